import type { ComponentChild, VNode } from "preact";
import { useContext, useState } from "preact/hooks";
import { usePictureWords } from "./picture-words.ts";
import { StillContext } from "./use-width.ts";

const PAGE_ROWS = 100;

/** A row of a table: its cells, and the entry it leads to. */
export interface TableRow {
  readonly key: string;
  readonly cells: readonly ComponentChild[];
  readonly onChoose?: () => void;
  readonly isChosen?: boolean;
}

/** The content of a picture as a table: folded, and a hundred rows at a time. */
export function PictureTable({
  columns,
  count,
  rowAt,
}: {
  readonly columns: readonly string[];
  readonly count: number;
  /** Asked for the rows that are shown alone. */
  readonly rowAt: (at: number) => TableRow;
}): VNode | null {
  const words = usePictureWords();
  const isStill = useContext(StillContext);
  const [isOpened, setOpen] = useState(false);
  const isOpen = isOpened || isStill;
  const [page, setPage] = useState(0);
  if (count === 0) return null;
  const last = Math.max(0, Math.ceil(count / PAGE_ROWS) - 1);
  const first = Math.min(page, last) * PAGE_ROWS;
  const end = isStill ? count : Math.min(count, first + PAGE_ROWS);
  const rows = isOpen ? Array.from({ length: end - first }, (_none, at) => rowAt(first + at)) : [];
  return (
    <details class="picture-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words.asTable(count)}</summary>
      {isOpen && (
        <>
          {last > 0 && (
            <p class="picture-row">
              <button type="button" disabled={page <= 0} onClick={() => setPage(page - 1)}>
                {words.previous}
              </button>
              <span>{words.rowsOf(first + 1, end, count)}</span>
              <button type="button" disabled={page >= last} onClick={() => setPage(page + 1)}>
                {words.next}
              </button>
            </p>
          )}
          <PlainTable columns={columns} rows={rows} />
        </>
      )}
    </details>
  );
}

/** A table that can be moved sideways where it is wider than the page. */
export function PlainTable({
  columns,
  rows,
}: {
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
}): VNode {
  return (
    <div class="picture-scroll">
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells, onChoose, isChosen }) => (
            <tr key={key} class={isChosen === true ? "chosen" : undefined}>
              {cells.map((cell, at) => (
                <td key={columns[at]}>
                  {at === 0 && onChoose !== undefined ? (
                    <button type="button" class="link" onClick={onChoose}>
                      {cell}
                    </button>
                  ) : (
                    cell
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
