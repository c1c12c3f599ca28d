import type { JsonSchema } from "../core/base/schema.ts";
import type { ApiRoute } from "./api-routes.ts";
import { COMPONENTS } from "./api-schemas.ts";

/** The description of the API, OpenAPI 3.1, made from the table that also answers. */
export function openApi(routes: readonly ApiRoute[], version: string, cookie: string): object {
  const paths: { [path: string]: { [method: string]: object } } = {};
  for (const route of routes) {
    const path = `/api${route.path.replaceAll(":id", "{id}")}`;
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "nano-agent",
      version,
      description:
        "Sessions of nano-agent: read, follow, begin and answer. Errors are problems (RFC 9457). Times are milliseconds since the epoch. Unknown fields and parameters are refused.",
    },
    security: [{ token: [] }, { cookie: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        cookie: {
          type: "apiKey",
          in: "cookie",
          name: cookie,
          description: "Set by POST /api/session: HttpOnly, SameSite=Strict.",
        },
      },
      schemas: COMPONENTS,
    },
  };
}

function operation(route: ApiRoute): object {
  const { summary, path, query, body, status, answer, access } = route;
  const isStream = answer === "Events";
  return {
    summary,
    parameters: [...(path.includes(":id") ? [ID] : []), ...parametersOf(query), ...(isStream ? [LAST] : [])],
    ...(access === "open" ? { security: [] } : {}),
    ...(body === undefined ? {} : { requestBody: requestBody(body) }),
    responses: {
      [status]: {
        description: "Done.",
        content: {
          [isStream ? "text/event-stream" : "application/json"]: {
            schema: { $ref: `#/components/schemas/${answer}` },
          },
        },
      },
      ...Object.fromEntries(refusalsOf(route).map((each) => [each, problem(each)])),
      default: problem(0),
    },
  };
}

const ID = { name: "id", in: "path", required: true, schema: { type: "string" } };
const LAST = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  schema: { type: "string" },
  description: "Goes on behind this entry; an unknown one begins at the start.",
};

function parametersOf({ properties }: JsonSchema): readonly object[] {
  return Object.entries(properties as { readonly [name: string]: JsonSchema }).map(([name, schema]) => ({
    name,
    in: "query",
    required: false,
    schema,
  }));
}

function requestBody(schema: JsonSchema): object {
  const isNeeded = Array.isArray(schema["required"]) && schema["required"].length > 0;
  return { required: isNeeded, content: { "application/json": { schema } } };
}

function refusalsOf({ path, body, access }: ApiRoute): readonly number[] {
  return [
    400,
    ...(access === "open" ? [] : [401]),
    403,
    ...(path.includes(":id") ? [404] : []),
    ...(access === "write" ? [409] : []),
    ...(body === undefined ? [] : [413, 415]),
  ];
}

const MEANINGS: { readonly [status: number]: string } = {
  0: "Any other fault.",
  400: "The request does not fit: a field that is unknown, missing or wrong.",
  401: "The token is missing or wrong.",
  403: "Of another origin, for another host, or the server only reads.",
  404: "There is nothing of this id.",
  409: "It does not fit the state; `fits` says what would.",
  413: "The body has more than 10 MB, that of a sign-in more than 4 kB.",
  415: "The body is not application/json.",
};

function problem(status: number): object {
  return {
    description: MEANINGS[status],
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
}
