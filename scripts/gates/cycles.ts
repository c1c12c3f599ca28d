/**
 * Import cycles of a graph, one per knot of files that reach each other, each as a closed path from its first
 * file.
 */
export function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const reported = new Set<string>();
  const cycles: string[][] = [];
  for (const start of [...graph.keys()].sort()) {
    if (reported.has(start)) continue;
    const cycle = shortestWayBack(graph, start);
    if (!cycle) continue;
    cycles.push(cycle);
    for (const file of cycle) reported.add(file);
  }
  return cycles;
}

function shortestWayBack(graph: ReadonlyMap<string, readonly string[]>, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const file of queue) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) return pathBack(cameFrom, start, file);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      queue.push(next);
    }
  }
  return undefined;
}

function pathBack(cameFrom: ReadonlyMap<string, string>, start: string, last: string): string[] {
  const path = [start];
  for (let file = last; file !== start; file = cameFrom.get(file) ?? start) path.unshift(file);
  return [start, ...path];
}
