// A provider of your own: models behind a gateway that speaks a known wire format, named `gateway/<model>`.
import type { ExtensionApi } from "nano-agent/extension";

export default (agent: ExtensionApi): void => {
  agent.provider({
    name: "gateway",
    wire: "openai_chat",
    baseUrl: "https://llm.example.com/v1",
    apiKeyEnv: "GATEWAY_API_KEY",
  });
};
