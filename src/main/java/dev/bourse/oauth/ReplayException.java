package dev.bourse.oauth;

/** A code or token was used before; fails the commit of its second user. */
final class ReplayException extends RuntimeException {
  ReplayException() {
    super("used before", null, false, false);
  }
}
