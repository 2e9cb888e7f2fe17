package dev.bourse.store;

/** Another process, or another part of this one, has the embedded store open. */
public final class StoreInUse extends StoreRefused {
  public StoreInUse(String message) {
    super(message, null);
  }
}
