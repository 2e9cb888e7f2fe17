// Looks at every page of the console as different people do: axe-core finds nothing of any impact in light and in
// dark, at a desk and on a phone; nothing needs a scroll to the side or is cut off on a phone and at 200 %; and
// nothing moves where less motion is wished for.
//
//   node looks.mjs SITE [SHOTS]
//
// In the folder SHOTS pictures of all pages are left, light and dark, of a desk and a phone; then nothing is judged.
import { join } from "node:path";
import assert from "node:assert/strict";
import { launch } from "../lib/browser.mjs";
import { canBeTouched, fits, holdsStill, isAccessible, isNamed } from "./lib/look.mjs";
import { pagesFor } from "./lib/pages.mjs";
import { readSite } from "./lib/site.mjs";
import { DEVICES, during, visit } from "./lib/visit.mjs";

const [file, shots] = process.argv.slice(2);
const site = readSite(file);
const SCHEMES = ["light", "dark"];
const { desk, phone, zoomed } = DEVICES;
const faults = [];

const browser = await launch();
await during(browser, async () => {
  for (const who of ["member", "operator"]) {
    const pages = await pagesFor(who, site.subjects);
    const { page, settled, quiet, close } = await visit(browser, site.service, { state: site.states[who] });
    for (const { address, name } of pages) {
      await page.setViewportSize(desk.viewport);
      await page.goto(site.service + address);
      await settled();
      await (shots ? picture(page, name) : look(page, name));
      await tell(quiet);
    }
    await close();
    console.log(`${pages.length} pages of ${who}s`);
  }
  assert(faults.length === 0, faults.join("\n"));
});

/** Keeps what a check has to say, so that one run tells of all. */
async function tell(check) {
  try {
    await check();
  } catch (fault) {
    faults.push(fault.message);
  }
}

async function look(page, name) {
  await tell(() => isNamed(page, name));
  for (const [device, { viewport }] of Object.entries({ desk, phone })) {
    await page.setViewportSize(viewport);
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await tell(() => isAccessible(page, `${name} at a ${device}, ${colorScheme}`));
    }
    await tell(() => fits(page, name));
  }
  await tell(() => canBeTouched(page, name));
  await page.setViewportSize(zoomed.viewport);
  await tell(() => fits(page, `${name} at 200 %`));
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await tell(() => holdsStill(page, name));
  await page.emulateMedia({ reducedMotion: "no-preference" });
}

async function picture(page, name) {
  for (const [device, { viewport }] of Object.entries({ desk, phone })) {
    await page.setViewportSize(viewport);
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: join(shots, `${name}-${device}-${colorScheme}.png`), fullPage: true });
    }
  }
}
