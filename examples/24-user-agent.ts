// A person as an agent, asked field by field. The answers here are prepared; a terminal passes its line
// reader instead:
//   new UserAgent({ input: createInterface({ input: process.stdin, output: process.stdout }) })
// with createInterface of node:readline/promises.
import { UserAgent } from "nano-agent";
import { z } from "zod";

const answers = ["Ann", "", "two", "2", "yes"];
const person = new UserAgent({
  input: (question) => {
    const answer = answers.shift() ?? "";
    console.log(`${question}\n> ${answer}`);
    return answer;
  },
});

const { output } = await person.run("Your booking, please.", {
  schema: z.object({
    name: z.string(),
    note: z.string().optional().describe("Anything we should know"),
    nights: z.number().int().min(1),
    breakfast: z.boolean(),
  }),
});

console.log(
  `${output?.name}: ${output?.nights} nights${output?.breakfast === true ? " with breakfast" : ""}`,
);
