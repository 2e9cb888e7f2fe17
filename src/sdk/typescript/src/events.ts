import { AnswerLost, mayPass } from "./errors.js";
import { chunks, lost, type Retry, Tries } from "./http.js";
import type { components } from "./contracts/vm.js";

type Schemas = components["schemas"];

/** What happened, by its `type`. Types that a newer service adds come as well. */
export type Event = { id: string | undefined } & (
  | { type: "capacity"; data: Schemas["CapacityState"] }
  | { type: "grant"; data: Schemas["GrantEvent"] }
  | { type: "notice"; data: Schemas["NoticeEvent"] }
  | { type: "notice-withdrawn"; data: Schemas["NoticeWithdrawnEvent"] }
  | { type: "reclaim"; data: Schemas["ReclaimEvent"] }
  | { type: "alert"; data: Schemas["AlertEvent"] }
  | { type: "warning"; data: Schemas["WarningEvent"] }
  | { type: "gap"; data: Schemas["GapEvent"] }
);

/** The service shows every 15 s that a stream is alive; longer silence is a connection that is no more. */
const SILENCE_MILLIS = 45_000;

type Raw = { id: string | undefined; type: string; data: string };

/** Events of a stream, as the HTML standard reads them. `retry` comes as an event of that type. */
async function* parse(answer: Response, silent: () => void): AsyncGenerator<Raw, void, undefined> {
  let rest = "";
  let fields: Record<string, string> = {};
  let data: string[] = [];
  const decoder = new TextDecoder();
  for await (const bytes of chunks(answer)) {
    silent();
    const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (line === "") {
        if (data.length > 0) {
          yield { id: fields.id, type: fields.event ?? "message", data: data.join("\n") };
        }
        fields = {};
        data = [];
      } else if (name === "data") {
        data.push(value);
      } else if (name === "retry") {
        yield { id: undefined, type: "retry", data: value };
      } else {
        fields[name] = value;
      }
    }
  }
}

/** Events without end. Throws what trying again does not help against, such as a token that was revoked. */
export async function* follow(
  connect: (last: string | undefined, signal: AbortSignal) => Promise<Response>,
  retry: Retry,
  last: string | undefined,
  stop: AbortSignal | undefined,
): AsyncGenerator<Event, void, undefined> {
  const tries = new Tries(retry);
  while (!stop?.aborted) {
    const connection = new AbortController();
    const signal = stop ? AbortSignal.any([stop, connection.signal]) : connection.signal;
    let silence: NodeJS.Timeout | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => connection.abort(), SILENCE_MILLIS);
    };
    let pause = 3;
    try {
      const answer = await connect(last, signal);
      heard();
      for await (const event of parse(answer, heard)) {
        if (event.type === "retry") {
          pause = Number(event.data) / 1000 || pause;
          continue;
        }
        tries.advanced();
        last = event.id ?? last;
        yield { id: event.id, type: event.type, data: JSON.parse(event.data) } as Event;
      }
      // The service ended it in order: it stops, or is about to say that the token is no more.
      await retry.sleep(pause);
    } catch (e) {
      if (stop?.aborted) {
        return;
      }
      const error = connection.signal.aborted
        ? new AnswerLost("followEvents: the stream fell silent", e)
        : e instanceof Error && "whatToDo" in e
          ? e
          : lost("followEvents", "the service", e);
      if (!mayPass(error)) {
        throw error;
      }
      await tries.after(error);
    } finally {
      clearTimeout(silence);
      connection.abort();
    }
  }
}
