import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { omitUndefined } from "../../../core/base/json.ts";
import type { RunLimits, SessionRequest } from "../../../server/server-api.ts";
import { LISTED_MODES } from "../../../view/mode-names.ts";
import { useWords } from "../language/language.ts";
import { goTo } from "../route.ts";
import { Button, Menu } from "../text/controls.tsx";
import { Icon, type IconName } from "../text/icons.tsx";
import { useReader, useWork, WorkLine } from "../work.tsx";
import { folderName, useLiveSessions } from "./live-sessions.ts";

export interface NewSessionFields {
  readonly prompt: string;
  readonly cwd: string;
  readonly model: string;
  readonly mode: string;
  readonly turns: string;
  readonly cost: string;
  readonly minutes: string;
}

const EMPTY: NewSessionFields = {
  prompt: "",
  cwd: "",
  model: "",
  mode: "",
  turns: "",
  cost: "",
  minutes: "",
};

/** The request given by the fields; empty ones are omitted. */
export function newSessionOf(fields: NewSessionFields): SessionRequest {
  const text = (name: keyof NewSessionFields): string | undefined => fields[name].trim() || undefined;
  const number = (name: keyof NewSessionFields): number | undefined => {
    const given = text(name);
    return given === undefined ? undefined : Number(given);
  };
  const minutes = number("minutes");
  const limits: RunLimits = omitUndefined({
    maxTurns: number("turns"),
    maxBudgetUsd: number("cost"),
    maxWallTime: minutes === undefined ? undefined : `${Math.round(minutes * 60)}s`,
  });
  return {
    prompt: fields.prompt,
    ...omitUndefined({
      cwd: text("cwd"),
      model: text("model"),
      permissionMode: text("mode"),
      limits: Object.keys(limits).length === 0 ? undefined : limits,
    }),
  };
}

/** The box for a new session: its first task, with everything else in menus. */
export function NewSessionBox({ cwd }: { readonly cwd: string | undefined }): VNode {
  const words = useWords();
  const reader = useReader();
  const work = useWork();
  const [fields, setFields] = useState(EMPTY);
  const [isStarting, setStarting] = useState(false);
  // Uses the newest fields: the folder may arrive during typing.
  const set = (more: Partial<NewSessionFields>): void => setFields((before) => ({ ...before, ...more }));
  useEffect(() => set({ cwd: cwd ?? "" }), [cwd]);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (fields.prompt.trim() === "" || isStarting) return;
    setStarting(true);
    const created = await work.attempt(() => reader.start(newSessionOf(fields)));
    setStarting(false);
    if (created !== undefined) goTo({ type: "session", id: created.id, view: "chat" });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) void submit(event);
  };
  return (
    <>
      <form class="box" onSubmit={(event) => void submit(event)}>
        <textarea
          aria-label={words.prompt}
          rows={1}
          value={fields.prompt}
          placeholder={words.prompt}
          data-new-session
          onKeyDown={onKeyDown}
          onInput={({ currentTarget }) => set({ prompt: currentTarget.value })}
        />
        <div class="row">
          <Choices fields={fields} set={set} />
          <span class="end">
            <span class="hint">{words.enterStarts}</span>
            <Button icon="send" type="submit" look="main round" name={words.start} disabled={isStarting} />
          </span>
        </div>
      </form>
      <WorkLine work={work} />
    </>
  );
}

interface ChoicesProps {
  readonly fields: NewSessionFields;
  readonly set: (more: Partial<NewSessionFields>) => void;
}

/** Folder, mode, model and limits, each with earlier choices. */
function Choices({ fields, set }: ChoicesProps): VNode {
  const words = useWords();
  const { page } = useLiveSessions();
  const recentValues = (name: "cwd" | "model"): readonly string[] => [
    ...new Set((page?.sessions ?? []).map((each) => each[name] ?? "")),
  ];
  const modes = ["", ...LISTED_MODES] as const;
  return (
    <>
      <Chooser
        icon="folder"
        name={words.folder}
        options={recentValues("cwd").map((each) => [each, folderName(each)])}
        defaultName={words.folderHint}
        value={fields.cwd}
        choose={(value) => set({ cwd: value })}
      />
      <Chooser
        icon="auto"
        name={words.mode}
        options={modes.map((mode) => [mode, words.modes[mode]])}
        defaultName={words.modes[""]}
        value={fields.mode}
        onlyOptions
        choose={(value) => set({ mode: value })}
      />
      <Chooser
        name={words.model}
        options={recentValues("model").map((each) => [each, each])}
        defaultName={words.modelHint}
        value={fields.model}
        choose={(value) => set({ model: value })}
      >
        {(["turns", "cost", "minutes"] as const).map((name) => (
          <label key={name}>
            {words.limits[name]}
            <input
              class="field"
              type="number"
              min="0"
              step={name === "turns" ? "1" : "any"}
              value={fields[name]}
              onInput={({ currentTarget }) => set({ [name]: currentTarget.value })}
            />
          </label>
        ))}
      </Chooser>
    </>
  );
}

interface ChooserProps {
  readonly icon?: IconName;
  readonly name: string;
  /** Values with their names; an empty value is the default. */
  readonly options: readonly (readonly [value: string, name: string])[];
  readonly defaultName: string;
  readonly value: string;
  readonly choose: (value: string) => void;
  /** True if only the options can be chosen. */
  readonly onlyOptions?: boolean;
  readonly children?: ComponentChildren;
}

function Chooser({
  icon,
  name,
  options,
  defaultName,
  value,
  choose,
  onlyOptions,
  children,
}: ChooserProps): VNode {
  const words = useWords();
  const shown = options.find(([each]) => each === value)?.[1] ?? value;
  const label = (
    <>
      {icon !== undefined && <Icon name={icon} />}
      <span class="cut">{value === "" ? defaultName : (shown.split(/: |：/, 1)[0] ?? shown)}</span>
      <Icon name="down" />
    </>
  );
  const choices = [["", defaultName] as const, ...options.filter(([each]) => each !== "")];
  return (
    <Menu look="chip" label={label} name={`${name}: ${value === "" ? defaultName : shown}`}>
      {(close) => (
        <>
          {choices.map(([each, text]) => (
            <button
              key={each}
              type="button"
              class="opt"
              role="menuitemradio"
              aria-checked={each === value}
              title={each}
              onClick={() => {
                choose(each);
                close();
              }}
            >
              <b>{text}</b>
            </button>
          ))}
          {onlyOptions !== true && (
            <div class="own">
              <label>
                {words.other}
                <input
                  class="field"
                  value={value}
                  autocomplete="off"
                  spellcheck={false}
                  onInput={({ currentTarget }) => choose(currentTarget.value)}
                />
              </label>
              {children}
            </div>
          )}
        </>
      )}
    </Menu>
  );
}
