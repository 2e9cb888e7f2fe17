package dev.bourse.client.transfer;

import java.time.Duration;

/**
 * The progress of one file's transfer. One thread transfers the bytes, another one monitors and
 * draws.
 */
interface Transfer {
  /** Records bytes that were present before this transfer and took no time. */
  void begin(long bytes);

  /** Records the number of the file's bytes that have arrived. */
  void at(long bytes);

  long bytes();

  /** Restarts the measurement of stillness. */
  void rest();

  /** The time since the last byte. */
  Duration stillness();

  /** Draws the progress, at most several times a second. */
  void draw();

  /** Prints a text on a line of its own. */
  void say(String text);
}
