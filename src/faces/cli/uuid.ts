/**
 * A random UUID (version 4, RFC 9562) to tell sessions and lines apart. Not for secrets: the numbers are not from the system's
 * random source, which would take longer to load than everything else the command does before its first request.
 */
export function randomUuid(): string {
  const digits = Array.from({ length: 32 }, () => Math.floor(Math.random() * 16));
  digits[12] = 4;
  digits[16] = 8 + Math.floor(Math.random() * 4);
  const hex = digits.map((digit) => digit.toString(16)).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
