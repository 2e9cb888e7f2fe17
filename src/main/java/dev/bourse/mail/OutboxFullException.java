package dev.bourse.mail;

import dev.bourse.store.StoreUnavailableException;

/**
 * The queue of mails is full, so the commit that was to store one is rolled back. A change that
 * matters more than its mail can be stored without it.
 */
public final class OutboxFullException extends StoreUnavailableException {
  private static final long serialVersionUID = 1;

  OutboxFullException(int most) {
    super("the mail queue is full: %d mails wait for the mail server".formatted(most), null);
  }
}
