/** The mean of a list of numbers; 0 for an empty one. */
export function mean(numbers) {
  if (numbers.length === 0) return 0;
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
