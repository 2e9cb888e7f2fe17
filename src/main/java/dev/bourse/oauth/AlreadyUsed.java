package dev.bourse.oauth;

/** What a client presented has been used before: whoever comes second fails the commit. */
final class AlreadyUsed extends RuntimeException {
  AlreadyUsed() {
    super("used before", null, false, false);
  }
}
