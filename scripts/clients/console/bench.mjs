// Measures the console in Chromium, for scripts/bench: prints a line for each figure, a name and numbers.
//
//   node bench.mjs SITE
//
// SITE is what populate.mjs left of a service that clears its market much faster than people's do, so
// that the ticks of an hour pass in a minute.
import { launch } from "../lib/browser.mjs";
import { until } from "../lib/member.mjs";
import { visit } from "./lib/visit.mjs";
import { readSite } from "./lib/site.mjs";

const site = readSite(process.argv[2]);
const ROUNDS = 7;
const ROWS = 1000;
// An hour of a market that is cleared every 10 s.
const TICKS = 360;

const browser = await launch();
try {
  const state = site.states.member;
  await firstLoad(state);
  await scroll(state);
  await heap(state);
} finally {
  await browser.close();
}

/** What a browser that was never here fetches, and when its page can be used and shows what it is about. */
async function firstLoad(state) {
  const usable = [];
  const shown = [];
  let requests = 0;
  let bytes = 0;
  for (let i = 0; i < ROUNDS; i++) {
    const { page, context, close } = await visit(browser, site.service, { state });
    const devtools = await context.newCDPSession(page);
    await devtools.send("Network.enable");
    requests = bytes = 0;
    devtools.on("Network.requestWillBeSent", () => requests++);
    devtools.on("Network.loadingFinished", (one) => (bytes += one.encodedDataLength));
    await page.addInitScript(() => {
      const seen = () => {
        const now = performance.now();
        if (document.querySelector("nav a[href^='/console']")) {
          globalThis.usableAt ??= now;
        }
        if (document.querySelector("h1") && !document.querySelector(".skeleton, .frame-waiting")) {
          globalThis.shownAt ??= now;
        }
      };
      new MutationObserver(seen).observe(document, { childList: true, subtree: true });
    });
    await page.goto(`${site.service}/console/`);
    await page.waitForFunction(() => globalThis.usableAt && globalThis.shownAt);
    usable.push(await page.evaluate(() => globalThis.usableAt));
    shown.push(await page.evaluate(() => globalThis.shownAt));
    await page.waitForLoadState("networkidle").catch(() => {});
    await close();
  }
  console.log(`load ${requests} ${(bytes / 1000).toFixed(1)}`);
  console.log(`usable ${median(usable).toFixed(0)} ${median(shown).toFixed(0)}`);
}

/** The longest frame while a trail of many rows is scrolled from its top to its end. */
async function scroll(state) {
  const keys = "/api/vm/orgs/acme/ssh-keys";
  const key = { name: "bench", public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGr5ynmS8PxYzaoVYPqJTYJ1oKq7JYPYc4sm0Y1s2ek3" };
  for (let i = 0; i < ROWS / 2; i++) {
    const { key_id: id } = await site.program(site.acmeToken, "POST", keys, key);
    await site.program(site.acmeToken, "DELETE", `${keys}/${id}`);
  }
  const { page, close } = await visit(browser, site.service, { state });
  await page.goto(`${site.service}/console/trail`);
  const rows = page.locator("tbody tr");
  await rows.first().waitFor();
  for (let had = 0; (await rows.count()) < ROWS; ) {
    had = await rows.count();
    await page.getByRole("button", { name: "Show more" }).click();
    await until("more rows", async () => (await rows.count()) > had);
  }
  const longest = await page.evaluate(async () => {
    const step = document.documentElement.clientHeight / 4;
    let last = performance.now();
    let worst = 0;
    for (let at = 0; at < document.documentElement.scrollHeight; at += step) {
      scrollTo(0, at);
      const now = await new Promise(requestAnimationFrame);
      worst = Math.max(worst, now - last);
      last = now;
    }
    return worst;
  });
  console.log(`scroll ${await rows.count()} ${longest.toFixed(1)}`);
  await close();
}

/** How much more the page of a cluster holds after as many ticks as an hour has; a rival moves the price in each. */
async function heap(state) {
  const { page, context, close } = await visit(browser, site.service, { state });
  const devtools = await context.newCDPSession(page);
  await page.goto(`${site.service}/console/clusters/acme-train`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  // By then everything that the page keeps is there.
  await ticks(30);
  const before = await used(devtools);
  const began = Date.now();
  await ticks(TICKS);
  const seconds = (Date.now() - began) / 1000;
  console.log(`heap ${TICKS} ${seconds.toFixed(0)} ${(((await used(devtools)) - before) / 1e6).toFixed(2)}`);
  await close();
}

function median(numbers) {
  return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

async function used(devtools) {
  await devtools.send("HeapProfiler.collectGarbage");
  return (await devtools.send("Runtime.getHeapUsage")).usedSize;
}

async function ticks(number) {
  for (let i = 0; i < number; i++) {
    const before = await tick();
    const { version } = await site.program(site.globexToken, "GET", "/api/vm/capacity");
    await site.program(site.globexToken, "PUT", "/api/vm/capacity", {
      max_gpus: 128,
      max_price_per_gpu_hour: 2 + (i % 2),
      expected_version: version,
    });
    await until("a tick", async () => (await tick()) !== before);
  }
}

async function tick() {
  const { pools } = await site.program(site.globexToken, "GET", "/api/market/feed");
  return pools.find(({ pool }) => pool === "south-a100").tick_at;
}
