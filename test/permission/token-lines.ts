import fc from "fast-check";

/**
 * Pieces of syntax that are put side by side without any sense: most of what comes out is broken, and what is
 * not is odd.
 */
const TOKENS =
  "echo |echo |cat | |; |&|&&|⏎|(|)|{ |; }|}|$(|`|$((|))|((|[[ | ]]|'|\"|$'|$\"|\\|\\⏎|#| #|<<E|<<'E'|<<-E|⏎E⏎|⏎\tE⏎|<<<|<(|>(|>&2|>/dev/null| 2>&1|${x:-|${x#|${x/|${a[|]|${|x|a|evil|evil |; evil |⏎evil⏎|case x in x) |;;| esac|if |; then |; fi|while |; do |; done|for i in a|function f |f() |! |time |=|a=|a[0]=|a=(|+=|~|*|?|@(|!(|-|0|$x|$#|$|%|/|,|: |true |[|\\\"|\\'|\\`|\\$|$[|=~ |&>|<&|{fd}|{a,b}|.."
    .split("|")
    .concat("|", "||", "|&")
    .map((token) => token.replaceAll("⏎", "\n"));

/** Lines of such pieces. */
export const tokenLines: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...TOKENS), { minLength: 2, maxLength: 14 })
  .map((tokens) => tokens.join(""));
