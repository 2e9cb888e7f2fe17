// Charts show what the service answers: a pool's demand by price as steps beside the supply, and prices over time from
// the first known one on, with round times of the reader's clock beneath. The answers are set here.
//
//   node charts.mjs SITE
import assert from "node:assert/strict";
import { launch } from "../lib/browser.mjs";
import { readSite } from "./lib/site.mjs";
import { DEVICES, during, visit } from "./lib/visit.mjs";

const site = readSite(process.argv[2]);
const BUCKETS = 400;

const browser = await launch();
await during(browser, async () => {
  // A zone whose hours begin at a quarter to those of others.
  const clock = { locale: "en-GB", timezoneId: "Asia/Kathmandu" };
  const alice = await visit(browser, site.service, { state: site.states.member, ...clock });
  await showsDemand(alice);
  await showsNoDemand(alice);
  await beginsAtTheFirstPrice(alice);
  await namesEachDayOnce(alice);
  await namesMonths(alice);
  await saysWhatThePoolCost(alice);
  await alice.close();
});

/** Opens the market with some fields of two answers replaced. */
async function open({ page, settled }, depth, history) {
  for (const [name, fields] of Object.entries({ depth, history })) {
    await page.unroute(`**/api/market/${name}?*`);
    await page.route(`**/api/market/${name}?*`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), ...fields } });
    });
  }
  await page.goto(`${site.service}/console/market`);
  await settled();
}

async function showsDemand(alice) {
  const levels = [
    { price_per_gpu_hour: 3.38, nodes: 2 },
    { price_per_gpu_hour: 1.22, nodes: 4 },
  ];
  await open(alice, { usable_nodes: 16, levels }, {});
  const chart = alice.page.getByRole("img", { name: /^Demand by price: 4 nodes wanted, 16 in the pool/ });
  await chart.waitFor();
  const path = await chart.locator(".line.first").getAttribute("d");
  const [two, four] = [...path.matchAll(/H([\d.]+)/g)].map(([, x]) => Number(x));
  const left = Number(path.match(/^M([\d.]+)/)[1]);
  const supply = Number(await chart.locator(".supply").getAttribute("x1"));
  assert.ok(Math.abs(four - left - 2 * (two - left)) < 1, `4 nodes are twice as wide as 2: ${path}`);
  assert.ok(Math.abs(supply - left - 4 * (four - left)) < 1, `16 nodes are four times as wide as 4: ${supply}, ${path}`);
  await alice.page.getByText("As a table").last().click();
  await alice.page.getByRole("row", { name: "$1.22 4" }).waitFor();
  alice.quiet();
  console.log("demand is drawn to scale beside the supply");
}

async function showsNoDemand(alice) {
  await open(alice, { levels: [] }, {});
  await alice.page.getByText("Nobody bids here now").waitFor();
  assert.equal(await alice.page.locator("bourse-depth").count(), 0);
  alice.quiet();
}

async function beginsAtTheFirstPrice(alice) {
  const known = 20;
  const step = 216;
  const prices = Array.from({ length: BUCKETS }, (_, bucket) => (bucket < BUCKETS - known ? null : 2));
  const t0 = Date.parse("2026-03-01T10:07:12Z") / 1000;
  await open(alice, {}, { t0, step, clearing_price: prices, admission_price: prices });
  const chart = alice.page.getByRole("slider", { name: "Price of a GPU-hour" });
  assert.equal(Number(await chart.getAttribute("aria-valuemin")), BUCKETS - known);
  const times = await timesUnder(chart);
  assert.ok(times.length >= 3, `${times} are at least three`);
  assert.ok(times.every((text) => /^\d\d:\d[05]$/.test(text)), `${times} are round`);
  await chart.press("Home");
  assert.equal(Number(await chart.getAttribute("aria-valuenow")), BUCKETS - known);
  alice.quiet();
  console.log(`a chart of 72 minutes has ${times.join(", ")} beneath it`);
}

/** On a wide screen, where twice as many times have room as a week has days. */
async function namesEachDayOnce(alice) {
  const prices = Array(BUCKETS).fill(2);
  const step = (7 * 86400) / BUCKETS;
  const t0 = Date.parse("2026-03-01T10:07:12Z") / 1000;
  await alice.page.setViewportSize({ width: 1600, height: 900 });
  await open(alice, {}, { t0, step, clearing_price: prices, admission_price: prices });
  const times = await timesUnder(alice.page.getByRole("slider", { name: "Price of a GPU-hour" }));
  assert.ok(times.length >= 6, `${times} are most days of a week`);
  assert.equal(new Set(times).size, times.length, `${times} differ`);
  await alice.page.setViewportSize(DEVICES.desk.viewport);
  alice.quiet();
}

async function namesMonths(alice) {
  const prices = Array(BUCKETS).fill(2);
  const step = (365 * 86400) / BUCKETS;
  const t0 = Date.parse("2025-03-01T10:07:12Z") / 1000;
  await open(alice, {}, { t0, step, clearing_price: prices, admission_price: prices });
  const times = await timesUnder(alice.page.getByRole("slider", { name: "Price of a GPU-hour" }));
  assert.ok(times.length >= 3, `${times} are at least three`);
  assert.ok(times.every((text) => /^1 [A-Z][a-z]+$/.test(text)), `${times} are first days of months`);
  alice.quiet();
  console.log(`a chart of a year has ${times.join(", ")} beneath it`);
}

/** Beside the ceiling, once it is focused. */
async function saysWhatThePoolCost(alice) {
  const { page, settled } = alice;
  await open(alice, {}, { clearing_price: [null, 1.2, 4.2, 3, null] });
  await page.goto(`${site.service}/console/clusters/acme-train`);
  await settled();
  const past = page.getByText("The pool cleared at $1.20 to $4.20 in the past day.");
  assert.equal(await past.count(), 0, "nothing is read before it is wanted");
  await page.getByLabel("Ceiling, a GPU-hour").focus();
  await past.waitFor();
  alice.quiet();
  console.log("the ceiling's field says what the pool cost in the past day");
}

/** The texts of the horizontal axis. */
async function timesUnder(chart) {
  await chart.waitFor();
  return chart.locator('.tick[text-anchor="middle"]').allTextContents();
}
