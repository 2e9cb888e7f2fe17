// Debian's Chromium, without a screen and without anything it would ask its makers for.
import { chromium } from "playwright-core";

/** Launches the browser at the path in CHROMIUM; whoever does must close it. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    timeout: 120_000,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
