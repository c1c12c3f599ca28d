/** The texts that could be commands in one that does not parse: cut at every operator, quotes taken away. */
export function roughCommands(text: string): ReadonlySet<string> {
  const commands = new Set<string>();
  for (const piece of text.split(/[;&|\n(){}<>`]+|\$\(/)) {
    const command = piece
      .replaceAll(/["'\\]/g, "")
      .replaceAll(/\s+/g, " ")
      .trim();
    if (command !== "") commands.add(command);
  }
  return commands;
}
