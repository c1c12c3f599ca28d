import type { TestExpression, Word } from "unbash";
import type { WordPrinter } from "./print-word.ts";
import type { SourceCursor } from "./source-cursor.ts";

/** Prints a condition of `[[ … ]]` anew; the cursor stands behind `[[`. */
export function printTest(expression: TestExpression, cursor: SourceCursor, words: WordPrinter): string {
  return new TestPrinter(cursor, words).test(expression);
}

class TestPrinter {
  readonly #cursor: SourceCursor;
  readonly #words: WordPrinter;

  constructor(cursor: SourceCursor, words: WordPrinter) {
    this.#cursor = cursor;
    this.#words = words;
  }

  test(expression: TestExpression): string {
    const cursor = this.#cursor;
    cursor.breaks();
    switch (expression.type) {
      case "TestUnary": {
        const { operator, operand } = expression;
        if (cursor.at !== operand.pos) {
          if (!UNARY.test(operator)) cursor.fail("its test is not known");
          this.#keyword(operator);
        } else if (operator !== "-n") cursor.fail("it is not spelled the way it is read");
        if (operator === "-v" && !/^\w+$/.test(operand.text)) cursor.fail("it looks at more than a name");
        return `${operator} ${this.#words.word(operand, { isName: true })}`;
      }
      case "TestBinary": {
        const left = this.#operand(expression.left, expression.operator);
        cursor.blank();
        if (!BINARY.test(expression.operator)) cursor.fail("its test is not known");
        const operator = this.#keyword(expression.operator);
        return `${left} ${operator}${this.#right(expression.right, expression.operator)}`;
      }
      case "TestLogical":
        return expression.operands
          .map((operand, index) => {
            cursor.blank();
            if (index > 0) cursor.expect(expression.operator);
            return this.test(operand);
          })
          .join(` ${expression.operator} `);
      case "TestNot":
        if (expression.negations.length > 1) cursor.fail("several words stand before a test");
        return this.#keyword("!") + this.test(expression.operand);
      case "TestGroup": {
        cursor.expect("(");
        const text = this.test(expression.expression);
        cursor.blank();
        cursor.expect(")");
        return `( ${text} )`;
      }
    }
  }

  #operand(word: Word, operator: string): string {
    if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(operator) && !NUMBER.test(word.text))
      this.#cursor.fail("it calculates with more than names and numbers");
    return this.#words.word(word);
  }

  /** The right side, a pattern or an expression where the operator says so. */
  #right(word: Word, operator: string): string {
    if (operator !== "=~") return this.#operand(word, operator);
    const cursor = this.#cursor;
    if (cursor.at !== word.pos || !REGEXP.test(word.text))
      cursor.fail("its regular expression is read in several ways");
    cursor.expect(word.text);
    cursor.endOfWord();
    return word.text;
  }

  #keyword(word: string): string {
    this.#cursor.keyword(word);
    this.#cursor.blank();
    return `${word} `;
  }
}

const UNARY = /^-[a-hknprstuvwxzGLNOS]$/;
const BINARY = /^(?:==?|!=|=~|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/;
const NUMBER = /^(?:-?\w+|"?\$(?:\w+|\{\w+\}|[#?])"?)$/;
const REGEXP = /^(?:[\w^.*+?@%:,/=[\]-]*\$?|\$\w+)$/;
