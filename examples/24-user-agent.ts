// A person as an agent, asked field by field. The answers here are prepared; a program on a terminal passes
// the line reader of node:readline/promises as `input`: createInterface({ input: stdin, output: stdout }).
//   npm install zod && node examples/24-user-agent.ts
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
