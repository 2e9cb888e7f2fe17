// Publishes folders in the console: one is dropped, with an empty file, a link and hidden names, and each of its files is
// on its page. Folders that cannot be published say why. An upload that is cut off goes on after a reload, with the same
// folder and no other: not with one whose file was renamed or replaced, and not with bytes that changed unnoticed. A slow
// drop disturbs no other choice or publication, and Cancel ends a drop, a computation of digests or an announcement.
//
//   node folder.mjs SITE
import { createHash, randomBytes } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import assert from "node:assert/strict";
import { launch } from "../lib/browser.mjs";
import { fits, isAccessible } from "./lib/look.mjs";
import { readSite } from "./lib/site.mjs";
import { DEVICES, during, visit } from "./lib/visit.mjs";

const site = readSite(process.argv[2]);
const work = mkdtempSync(join(site.work, "folder-"));
/** When files were modified, in seconds. */
const TIME = 1_700_000_000;

const browser = await launch();
await during(browser, async () => {
  const alice = await visit(browser, site.service, { state: site.states.member });
  await alice.page.goto(`${site.service}/console/checkpoints`);
  await alice.settled();
  await publishesADroppedFolder(alice);
  await refusesWhatCannotBePublished(alice);
  await showsNamesAsText(alice);
  await goesOnAfterACut(alice);
  await goesOnFromWhereTheFolderIs(alice);
  await forgetsAFolderThatChanged(alice);
  await ignoresASlowDrop(alice);
  await keepsAPublicationFromADrop(alice);
  await cancelsTheAnnouncementOfAFile(alice);
  await alice.close();
});

/** Makes a folder of files by their paths. */
function folder(name, files) {
  const root = join(work, name);
  mkdirSync(root, { recursive: true });
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), bytes);
  }
  return root;
}

/** Drops the files and folders at `paths`, as a member does with the mouse. */
async function drop(page, ...paths) {
  const devtools = await page.context().newCDPSession(page);
  const { x, y } = await page.locator(".drop").boundingBox();
  const data = { items: [], files: paths, dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await devtools.send("Input.dispatchDragEvent", { type, x: x + 5, y: y + 5, data });
  }
  await devtools.detach();
}

/** In both colour schemes, at a desk, on a phone and enlarged. */
async function looksRight(page, name) {
  for (const [device, { viewport }] of Object.entries(DEVICES)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await isAccessible(page, `${name} at a ${device}, ${colorScheme}`);
    }
    await fits(page, `${name} at a ${device}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(DEVICES.desk.viewport);
}

async function publishesADroppedFolder({ page, settled, toasted, quiet }) {
  // Lengths around those of a digest's blocks.
  const files = Object.fromEntries([0, 1, 55, 56, 63, 64, 65, 3_000_000].map((length) => [`shards/${length}.bin`, randomBytes(length)]));
  const root = folder("llama", { "README.md": "# Llama", ...files, ".env": "x", ".cache/a": "x" });
  symlinkSync(join(root, "README.md"), join(root, "link.md"));
  await drop(page, root);
  await page.getByText(/Left out because their names begin with a dot: \.cache, \.env\./).waitFor();
  await looksRight(page, "a folder about to be published");
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await toasted("llama is published.");
  await page.getByRole("link", { name: "llama", exact: true }).click();
  await settled();
  await looksRight(page, "the page of a folder");
  for (const [path, bytes] of Object.entries({ "README.md": "# Llama", ...files })) {
    const digest = createHash("sha256").update(bytes).digest("hex");
    await page.locator(`[id="${path}"], tr`).filter({ hasText: path }).filter({ hasText: digest }).first().waitFor();
  }
  const revisions = page.getByRole("table", { name: "Revisions" });
  await revisions.getByRole("row", { name: /^1 .* alice .* 9 files/ }).waitFor();
  assert.equal(await page.getByText("link.md").count(), 0, "browsers list no links");
  assert.equal(await page.getByText(".env").count(), 0, "hidden names stay out");
  await page.goBack();
  await settled();
  quiet();
  console.log("a dropped folder is published with all its files");
}

async function refusesWhatCannotBePublished({ page, refused, quiet }) {
  await drop(page, folder("empty", { ".hidden": "x" }));
  await page.getByText("empty has no file to publish.").waitFor();
  await drop(page, folder("two/a", { x: "x" }), folder("two/b", { x: "x" }));
  await page.getByText("2 files were dropped. Drop one file, or one folder that has them.").waitFor();
  const many = folder("many", Object.fromEntries(Array.from({ length: 4097 }, (_, number) => [`${number % 7}/${number}`, ""])));
  await drop(page, many);
  await page.getByText("many has more than 4,096 files, the most a set may have. Pack some of them into one file.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Publish", exact: true }).count(), 0);
  const long = Array.from({ length: 4 }, () => "directory-".repeat(20)).join("/");
  await drop(page, folder("long", Object.fromEntries(Array.from({ length: 1300 }, (_, number) => [`${long}/${number}`, ""]))));
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText(/The list of the 1,300 files of long has [\d,]+ bytes with all paths; the service takes 1,048,576 bytes at most\./).waitFor();
  await drop(page, folder("names", { "line\nbreak.txt": "x" }));
  refused(422);
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "files[0].path" }).waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  quiet();
  console.log("folders that are empty, too large or have unfit names say so");
}

async function showsNamesAsText({ page, settled, toasted, quiet }) {
  const name = `<img src=x onerror="window.attacked=1">.txt`;
  await drop(page, folder("<b>markup", { [name]: "x" }));
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await toasted("<b>markup is published.");
  await page.getByRole("link", { name: "<b>markup" }).click();
  await settled();
  await page.getByText(name).first().waitFor();
  assert.equal(await page.evaluate(() => globalThis.attacked), undefined);
  await page.goBack();
  await settled();
  quiet();
}

async function goesOnAfterACut({ page, unreachable, tolerated, quiet, settled, toasted }) {
  const root = folder("cut", { "a.bin": randomBytes(100_000), "b.bin": randomBytes(200_000), "c.bin": randomBytes(300_000) });
  date(root);
  let sent = [];
  page.on("request", (request) => request.url().includes("/upload/") && sent.push(request.url().split("/").at(-1)));
  unreachable();
  await page.route("**/upload/*/1", (route) => route.abort());
  await drop(page, root);
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Trying again soon.").waitFor();
  page.once("dialog", (dialog) => dialog.accept());
  await page.reload();
  await page.getByText("Interrupted when the page was closed.").waitFor();
  await page.unroute("**/upload/*/1");
  await settled();
  // The page keeps the upload if the service answers 503 to the question how many bytes have arrived.
  tolerated(503);
  const busy = { status: 503, json: { error: "unavailable", detail: "the service is busy" } };
  const refused = page.waitForResponse((answer) => answer.status() === 503);
  await page.route("**/upload/*/*", (route) => route.fulfill(busy));
  await page.reload();
  await refused;
  await settled();
  await page.unroute("**/upload/*/*");
  await page.getByText("Interrupted when the page was closed.").waitFor();
  const other = join(work, "other", "cut");
  cpSync(root, other, { recursive: true });
  writeFileSync(join(other, "c.bin"), randomBytes(299_999));
  const again = page.getByLabel("Choose the folder again");
  await again.setInputFiles(other);
  await page.getByText(/is not the folder that was begun: cut/).waitFor();
  for (const [name, change] of Object.entries({
    renamed: (copy) => renameSync(join(copy, "a.bin"), join(copy, "renamed.bin")),
    replaced: (copy) => replace(join(copy, "a.bin"), 100_000, TIME - 60),
  })) {
    const copy = join(work, name, "cut");
    cpSync(root, copy, { recursive: true });
    date(copy);
    change(copy);
    // So that the refusal of the last one is gone.
    await page.reload();
    await page.getByText("Interrupted when the page was closed.").waitFor();
    await again.setInputFiles(copy);
    await page.getByText(/is not the folder that was begun: cut/).waitFor();
  }
  await settled();
  sent = [];
  await drop(page, root);
  await toasted("cut is published.");
  assert.deepEqual(sent.filter((number) => number === "0"), ["0"], "the file that arrived is asked for, not sent");
  quiet();
  console.log("an upload that was cut off goes on after a reload, with the same folder alone");
}

/** Lets all files of a folder be modified at the same time. */
function date(root) {
  for (const name of readdirSync(root)) {
    utimesSync(join(root, name), TIME, TIME);
  }
}

/** Replaces the bytes of a file by others, as if at `time`. */
function replace(path, length, time) {
  writeFileSync(path, randomBytes(length));
  utimesSync(path, time, time);
}

async function goesOnFromWhereTheFolderIs({ page, unreachable, toasted, quiet }) {
  const root = folder("moved", { "a.bin": randomBytes(1000), "b.bin": randomBytes(1000) });
  unreachable();
  await page.route("**/upload/*/1", (route) => route.abort());
  await drop(page, root);
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Trying again soon.").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.unroute("**/upload/*/1");
  mkdirSync(join(work, "elsewhere"));
  renameSync(root, join(work, "elsewhere", "moved"));
  await drop(page, join(work, "elsewhere", "moved"));
  await toasted("moved is published.");
  quiet();
  console.log("an upload goes on from the place that its folder was moved to");
}

async function forgetsAFolderThatChanged({ page, unreachable, settled, toasted, quiet }) {
  const root = folder("changed", { "a.bin": randomBytes(1000), "b.bin": randomBytes(1000) });
  date(root);
  unreachable();
  await page.route("**/upload/*/1", (route) => route.abort());
  await drop(page, root);
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Trying again soon.").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.unroute("**/upload/*/1");
  replace(join(root, "b.bin"), 1000, TIME);
  await drop(page, root);
  await page.getByText("b.bin changed after changed was announced, so changed was not published. Drop or choose it again.").waitFor();
  await page.getByRole("button", { name: "Dismiss" }).waitFor();
  await drop(page, root);
  await page.getByRole("button", { name: /^(Publish|Replace)$/ }).click();
  await toasted("changed is published.");
  await settled();
  quiet();
  console.log("a folder that changed unnoticed says so, and its next drop publishes it as it is");
}

/** Holds back the names in folders that are dropped, or the bytes of files, until the answered function is called. */
async function hold(page, what) {
  await page.evaluate((what) => {
    const held = new Promise((release) => (globalThis.release = release));
    if (what === "bytes") {
      const own = Blob.prototype.arrayBuffer;
      Blob.prototype.arrayBuffer = function () {
        return held.then(() => own.call(this));
      };
      return;
    }
    const own = DataTransferItem.prototype.webkitGetAsEntry;
    DataTransferItem.prototype.webkitGetAsEntry = function () {
      const entry = own.call(this);
      const reader = entry.createReader();
      entry.createReader = () => ({ readEntries: (...both) => held.then(() => reader.readEntries(...both)) });
      return entry;
    };
  }, what);
  return () => page.evaluate(async () => {
    globalThis.release();
    // Each file and each part of a folder's names is a task of its own.
    for (let frames = 0; frames < 20; frames++) {
      await new Promise(requestAnimationFrame);
    }
  });
}

async function ignoresASlowDrop({ page, quiet }) {
  const slow = folder("slow", { a: "x" });
  const note = join(folder("notes", { "note.txt": "note" }), "note.txt");
  const title = page.getByLabel("Title");
  let release = await hold(page, "names");
  await drop(page, slow);
  await page.getByRole("status").filter({ hasText: "Reading slow…" }).waitFor();
  await looksRight(page, "a folder that is being read");
  await page.getByLabel("Choose a file").setInputFiles(note);
  await title.fill("Typed meanwhile");
  await release();
  assert.equal(await title.inputValue(), "Typed meanwhile");
  release = await hold(page, "names");
  await drop(page, slow);
  await page.getByText("Reading slow…").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await release();
  assert.equal(await title.count(), 0, "the cancelled drop does not appear");
  quiet();
  console.log("a slow drop is shown, can be cancelled, and keeps a later choice");
}

async function keepsAPublicationFromADrop({ page, quiet, settled, toasted }) {
  await drop(page, folder("digested", { a: "digested" }));
  const release = await hold(page, "bytes");
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await drop(page, folder("intruder", { a: "intruder" }));
  await toasted("digested is being published. Wait until sending begins, or cancel it,");
  await release();
  await toasted("digested is published.");
  assert.equal(await page.getByLabel("Title").count(), 0);
  await settled();
  quiet();
  console.log("a drop does not end the publication that is under way");
}

async function cancelsTheAnnouncementOfAFile({ page, unreachable, quiet, settled }) {
  const files = folder("announced", { "first.txt": "first", "second.txt": "second" });
  const title = page.getByLabel("Title");
  let answer;
  const asked = new Promise((resolve) => {
    page.route("**/api/checkpoints", (route) => {
      if (route.request().method() !== "POST") {
        return route.fallback();
      }
      resolve();
      return new Promise((done) => (answer = () => route.continue().catch(() => {}).then(done)));
    });
  });
  unreachable();
  await page.getByLabel("Choose a file").setInputFiles(join(files, "first.txt"));
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await asked;
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByLabel("Choose a file").setInputFiles(join(files, "second.txt"));
  await title.fill("Typed after it");
  await answer();
  await settled();
  assert.equal(await title.inputValue(), "Typed after it");
  assert.equal(await page.getByText("first.txt").count(), 0, "nothing of the cancelled file is published");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.unroute("**/api/checkpoints");
  quiet();
  console.log("Cancel ends the announcement of a file");
}
