package dev.bourse.store;

/** Another process, or another part of this one, has the embedded store open. */
public final class StoreInUseException extends StoreRefusedException {
  public StoreInUseException(String message) {
    super(message, null);
  }
}
