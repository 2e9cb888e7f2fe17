import { readFile } from "node:fs/promises";

/** Where a node says whether it will be taken back. */
export const NOTICE_FILE = "/run/bourse/notice.json";

/** What the node that a program runs on says of its end. */
export interface NodeNotice {
  id: string;
  /** An earlier notice does not apply any more. */
  withdrawn: boolean;
  reason: string;
  reclaimAt: Date;
  /** Nothing is taken back at `reclaimAt`. */
  drill: boolean;
}

export interface NoticeOptions {
  path?: string;
  everyMillis?: number;
}

/** The last notice of this node; undefined when there was none since it started, or this is no node. */
export async function readNotice(path?: string): Promise<NodeNotice | undefined> {
  let text: string;
  try {
    text = await readFile(path ?? process.env.BOURSE_NOTICE ?? NOTICE_FILE, "utf8");
  } catch {
    return undefined;
  }
  const facts = JSON.parse(text) as { id: string; state: string; reason: string; reclaim_at: string; drill: boolean };
  return {
    id: facts.id,
    withdrawn: facts.state !== "given",
    reason: facts.reason,
    reclaimAt: new Date(facts.reclaim_at),
    drill: facts.drill,
  };
}

/**
 * Calls a function for each notice of this node and each withdrawal, also for one that stands when the watch begins.
 * Reads the file once a second until the returned function is called.
 */
export function watchNotices(onNotice: (notice: NodeNotice) => void | Promise<void>, options: NoticeOptions = {}): () => void {
  let last: string | undefined;
  const look = async (): Promise<void> => {
    const notice = await readNotice(options.path).catch(() => undefined);
    if (ended || !notice) {
      return;
    }
    const seen = `${notice.id} ${notice.withdrawn}`;
    // A withdrawal of something that this program was never told is no news.
    const isNews = seen !== last && !(last === undefined && notice.withdrawn);
    last = seen;
    if (isNews) {
      await onNotice(notice);
    }
  };
  let ended = false;
  let isLooking = false;
  // Runs one onNotice at a time. An error of onNotice is logged, because unhandled it would end the process.
  const lookOnce = async (): Promise<void> => {
    if (isLooking) {
      return;
    }
    isLooking = true;
    try {
      await look();
    } catch (e) {
      console.error("onNotice failed:", e);
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void lookOnce(), options.everyMillis ?? 1000);
  timer.unref();
  void lookOnce();
  return () => {
    ended = true;
    clearInterval(timer);
  };
}
