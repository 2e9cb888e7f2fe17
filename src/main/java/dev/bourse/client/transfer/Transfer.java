package dev.bourse.client.transfer;

import java.time.Duration;

/**
 * How far the transfer of one file is. One thread moves the bytes, another one watches over it and
 * draws.
 */
interface Transfer {
  /** So many of the file's bytes were there before this transfer; they took no time. */
  void begin(long bytes);

  /** Notes how many of the file's bytes have arrived. */
  void at(long bytes);

  long bytes();

  /** Begins to measure anew how long no byte has moved. */
  void rest();

  /** How long no byte has moved. */
  Duration stillness();

  /** Draws the progress, unless it was drawn just now. */
  void draw();

  /** Says something in a line of its own. */
  void say(String text);
}
