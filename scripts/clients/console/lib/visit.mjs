// A browser of somebody's own, which fails the walk on whatever is not as it should be: a word in the console, a
// request that fails or is refused and was not announced to be, a page of somebody else, a secret in an address
// or in what the browser keeps.
import assert from "node:assert/strict";
import { PATIENCE_MS, listen, until } from "../../lib/member.mjs";

export const DEVICES = {
  desk: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  // What a browser makes of 1280 by 800 at 200 %.
  zoomed: { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
};

/** The shortest `AbortSignal.timeout` of a page, in milliseconds. */
const SHORTEST_TIMEOUT_MS = 60_000;

/** The secrets of this service, by how they begin. */
const SECRET = /\bbr[sorkv]_[0-9A-Za-z_]{16,}/;

/**
 * Opens `browser` at `service` with no cookies.
 *
 * `refused(status)` announces that a request will be, `tolerated(status)` that any number may be, `unreachable()` that
 * the service will be gone for a while; up to `quiet()`, which shows that there was nothing else to complain about.
 * `toasted(text)` waits for a toast with that text since the last such wait.
 */
export async function visit(browser, service, options = {}) {
  const { device = "desk", state = undefined, ...rest } = options;
  const context = await browser.newContext({ ...DEVICES[device], ...rest, storageState: state });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: service });
  // The context's timeout also applies to pages that a page opens and to requests of the test.
  context.setDefaultTimeout(PATIENCE_MS);
  await context.addInitScript(onABusyMachine, SHORTEST_TIMEOUT_MS);
  const page = await context.newPage();
  // From the beginning, so that no dialog opens in the moment in which the driver begins to listen.
  page.on("filechooser", () => {});
  const watch = watchOver(page, service);
  return {
    page,
    context,
    ...watch,
    settled: settling(page),
    toasted: (text) => until(`a toast with "${text}"`, () => page.evaluate(takeToast, text)),
    /** What a sign-in has left in this browser, for another one to begin with. */
    state: () => context.storageState(),
    async close() {
      await keepsNoSecret(page, context);
      watch.quiet();
      await context.close();
    },
  };
}

/**
 * Runs in each page before its own scripts. It records the texts of toasts, because a toast disappears after six
 * seconds and a delayed test would miss it. It extends the timeout of previews, because a busy service may need more
 * than five seconds. A test of this timeout puts `ownTimeout` back.
 */
function onABusyMachine(least) {
  globalThis.toasts = [];
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes) {
      if (target.id === "toasts") {
        globalThis.toasts.push(...[...addedNodes].filter((one) => one.checkVisibility?.()).map((one) => one.textContent));
      }
    }
  }).observe(document, { childList: true, subtree: true });
  globalThis.ownTimeout = AbortSignal.timeout;
  AbortSignal.timeout = (millis) => globalThis.ownTimeout.call(AbortSignal, Math.max(millis, least));
}

/** Removes the first recorded toast with that text and all earlier ones; returns false if there is none. */
function takeToast(text) {
  const at = globalThis.toasts.findIndex((one) => one.includes(text));
  return globalThis.toasts.splice(0, at + 1).length > 0;
}

function watchOver(page, service) {
  const told = listen(page);
  const complaints = [];
  const expected = [];
  const forgiven = [];
  let away = false;
  let tolerated;
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${service}/`) && !/^(data|blob|about):/.test(url)) {
      complaints.push(`asked somebody else: ${url}`);
    }
    if (SECRET.test(url)) {
      complaints.push(`a secret in an address: ${url}`);
    }
  });
  page.on("response", (response) => {
    const status = response.status();
    if (status < 400 || away) {
      return;
    }
    const at = expected.indexOf(status);
    if (status === tolerated) {
      forgiven.push(status);
    } else if (at >= 0) {
      expected.splice(at, 1);
      forgiven.push(status);
    } else {
      complaints.push(`${status} for ${response.request().method()} ${response.url()}`);
    }
  });
  // The browser tells of each refusal in its console, too.
  const isAnnounced = (complaint) =>
    away || forgiven.some((status) => complaint.includes(`with a status of ${status} `));
  return {
    refused: (...statuses) => expected.push(...statuses),
    tolerated: (status) => (tolerated = status),
    unreachable: () => (away = true),
    quiet() {
      const all = [...complaints, ...told().filter((one) => !isAnnounced(one))];
      complaints.length = forgiven.length = 0;
      const missing = expected.splice(0);
      assert.deepEqual({ all, missing }, { all: [], missing: [] }, `at ${page.url()}`);
      away = false;
      tolerated = undefined;
    },
  };
}

/** A way to wait until `page` has shown what it asked for: nothing is under way but streams, and nothing waits. */
function settling(page) {
  const underWay = new Set();
  const over = (request) => underWay.delete(request);
  page.on("request", (request) => underWay.add(request));
  page.on("requestfinished", over);
  page.on("requestfailed", over);
  page.on("response", (response) => {
    if (response.headers()["content-type"]?.startsWith("text/event-stream")) {
      over(response.request());
    }
  });
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return async function settled() {
    await until("the page to settle", async () => {
      if (underWay.size > 0) {
        return false;
      }
      await page.evaluate(frames);
      return underWay.size === 0 && (await page.locator(".skeleton:visible").count()) === 0;
    });
  };
}

async function keepsNoSecret(page, context) {
  if (page.url() === "about:blank") {
    return;
  }
  const kept = JSON.stringify([
    await page.evaluate(() => [{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    (await context.storageState({ indexedDB: true })).origins,
  ]);
  assert(!SECRET.test(kept), `the browser keeps a secret: ${kept.match(SECRET)}`);
}

/** Runs `walk` in `browser`, which it closes; where the walk fails, tells what each page showed. */
export async function during(browser, walk) {
  try {
    await walk();
  } catch (fault) {
    for (const page of browser.contexts().flatMap((context) => context.pages())) {
      console.error(`at ${page.url()}:\n${await page.locator("body").innerText()}\n`);
    }
    throw fault;
  } finally {
    await browser.close();
  }
}
