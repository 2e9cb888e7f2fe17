package dev.bourse.remote;

import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/** The service did not do what was asked; the message says why and what to do about it. */
public final class Refused extends Exception {
  private static final long serialVersionUID = 1;

  private final ExitCode exitCode;
  private final int status;
  private final String error;
  private final String reason;
  private final long retryAfterSeconds;

  /** A refusal that is not an answer of the service. */
  public Refused(ExitCode exitCode, String message) {
    this(exitCode, message, 0, null);
  }

  /**
   * @param status of the answer; 0 when there was none
   * @param answer its JSON; null when it has none
   */
  public Refused(ExitCode exitCode, String message, int status, @Nullable JsonObject answer) {
    super(message);
    JsonObject told = answer == null ? new JsonObject() : answer;
    this.exitCode = exitCode;
    this.status = status;
    this.error = text(told, "error");
    this.reason = text(told, "reason");
    this.retryAfterSeconds =
        told.getValue("retry_after_s") instanceof Number seconds ? seconds.longValue() : 0;
  }

  private static String text(JsonObject told, String field) {
    return told.getValue(field) instanceof String text ? text : "";
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }

  public ExitCode exitCode() {
    return exitCode;
  }

  /** Whether the same request may do later. */
  public boolean isTransient() {
    return exitCode == ExitCode.UNAVAILABLE;
  }

  /** The status of the answer; 0 when there was none. */
  public int status() {
    return status;
  }

  /** The error code of the answer; empty when there was none. */
  public String error() {
    return error;
  }

  /** The kind of a conflict; empty when none was told. */
  public String reason() {
    return reason;
  }

  /** Seconds after which the service wants to be asked again; 0 when it did not say. */
  public long retryAfterSeconds() {
    return retryAfterSeconds;
  }

  /** Whether this is the service's answer of an error code. */
  public boolean is(String code) {
    return error.equals(code);
  }
}
