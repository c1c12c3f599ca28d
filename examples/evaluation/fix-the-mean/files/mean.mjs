/** The mean of a list of numbers; 0 for an empty one. */
export function mean(numbers) {
  let sum = 0;
  for (let at = 1; at < numbers.length; at++) sum += numbers[at];
  return sum / numbers.length;
}
