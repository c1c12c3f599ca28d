export { terminalLine, terminalText } from "../../app/safe-text.ts";
