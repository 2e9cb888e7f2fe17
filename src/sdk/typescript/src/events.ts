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

/** Events of a stream, as the HTML standard reads them. `retry` and comments come as events of that name. */
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
      } else if (name === "") {
        yield { id: undefined, type: "comment", data: value };
      } else {
        fields[name] = value;
      }
    }
  }
}

/**
 * Events without end. Throws what trying again does not help against, such as a token that was revoked, and what
 * outlasts the patience.
 */
export async function* follow(
  connect: (last: string | undefined, signal: AbortSignal) => Promise<Response>,
  retry: Retry,
  last: string | undefined,
  stop: AbortSignal | undefined,
): AsyncGenerator<Event, void, undefined> {
  // The tries of the outage there is. A cluster can be without an event for hours, so that its patience begins with its
  // first failure. It ends once something came whole: a service that accepts a connection and breaks it at once, over
  // and over, is asked less and less often.
  let outage: Tries | undefined;
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
        outage = undefined;
        if (event.type === "comment") {
          continue;
        }
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
      outage ??= new Tries(retry);
      await outage.after(error);
    } finally {
      clearTimeout(silence);
      connection.abort();
    }
  }
}
