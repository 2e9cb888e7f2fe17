// A member at a browser: what each walk through the pages for people needs.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import assert from "node:assert/strict";

/** The longest wait for anything; a machine with other work takes longer. */
export const PATIENCE_MS = 60_000 * Number(process.env.SMOKE_PATIENCE ?? 1);

/** Waits until `find` finds something, and returns it. */
export async function until(what, find) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = await find();
    if (found) {
      return found;
    }
    assert(Date.now() < deadline, `waited ${PATIENCE_MS / 1000} s for ${what}`);
    await pause(50);
  }
}

/** The mails in the folder `outbox`, oldest first: their names sort by time. */
export function mails(outbox) {
  try {
    return readdirSync(outbox)
      .filter((name) => name.endsWith(".eml"))
      .sort();
  } catch (e) {
    if (e.code === "ENOENT") {
      return [];
    }
    throw e;
  }
}

/** The link in the first mail to `email` that is not among `known`. */
export function linkFor(outbox, email, known) {
  return until(`a mail to ${email}`, () => {
    for (const name of mails(outbox).filter((one) => !known.includes(one))) {
      const text = readFileSync(join(outbox, name), "utf8");
      if (text.includes(`\r\nTo: ${email}\r\n`)) {
        return text.match(/^https?:\/\/\S+$/m)[0];
      }
    }
    return undefined;
  });
}

/** Signs in on the page of sign-in, where `page` is, with the link that is mailed; ends where that leads. */
export async function signIn(page, email, outbox) {
  const known = mails(outbox);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Mail me a link" }).click();
  await page.getByRole("heading", { name: "Check your mail" }).waitFor();
  await page.goto(await linkFor(outbox, email, known));
  await page.getByRole("button", { name: "Sign in" }).click();
}

/**
 * Keeps what the browser has to complain about on `page`: blocked by the content security policy, failed,
 * refused. `told()` returns it and begins anew.
 */
export function listen(page) {
  let complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) {
      complaints.push(message.text());
    }
  });
  page.on("pageerror", (fault) => complaints.push(String(fault)));
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText;
    // Whoever leaves a page does not wait for what it still loads.
    if (why !== "net::ERR_ABORTED") {
      complaints.push(`${request.url()} ${why}`);
    }
  });
  return () => {
    const told = complaints;
    complaints = [];
    return told;
  };
}
