package dev.bourse.checkpoint;

import dev.bourse.core.ApiException;
import dev.bourse.core.ErrorCode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The {@code reason} of a {@code conflict}. */
public enum ConflictReason {
  /** The place is taken. */
  EXISTS,
  /** The upload accepts no bytes: they arrived, were discarded or are too late. */
  NOT_PENDING,
  SIZE_MISMATCH,
  SHA_MISMATCH,
  /** The bytes have not arrived, or not all of them. */
  OBJECT_MISSING,
  /** The bytes must be sent to the session. */
  RESUMABLE_UPLOAD,
  /** The request does not fit the state of the item or its upload. */
  WRONG_STATUS;

  /** Returns the error; its detail is a template with arguments. */
  @SuppressWarnings("AnnotateFormatMethod") // The annotation would be one more library.
  public ApiException of(String template, @Nullable Object... arguments) {
    return ApiException.of(ErrorCode.CONFLICT, template.formatted(arguments))
        .with("reason", name().toLowerCase(Locale.ROOT).replace('_', '-'));
  }
}
