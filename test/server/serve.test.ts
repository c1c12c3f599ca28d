import { calls } from "../../src/testing/script.ts";
import { describeServer } from "./serve.contract.ts";
import { agentsRoom, filesRoom } from "./server-room.ts";

describeServer("sessions in files", { open: filesRoom, asking: calls("bash", { command: "touch made" }) });
describeServer("agents in memory", { open: agentsRoom, asking: calls("touch", { path: "made" }) });
