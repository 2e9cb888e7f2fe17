package dev.bourse.mail;

import dev.bourse.store.StoreUnavailable;

/**
 * As many mails wait for the mail server as may: the commit that was to store one is undone. What
 * matters more than its mail can be stored without it.
 */
public final class OutboxFull extends StoreUnavailable {
  private static final long serialVersionUID = 1;

  OutboxFull(int most) {
    super("%d mails wait for the mail server, as many as may".formatted(most), null);
  }
}
