package dev.bourse.checkpoint;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Why something stands in the way: the {@code reason} of a {@code conflict}. */
public enum ConflictReason {
  /** The place is taken. */
  EXISTS,
  /** Nothing awaits these bytes: they arrived, were given up or are too late. */
  NOT_PENDING,
  SIZE_MISMATCH,
  SHA_MISMATCH,
  /** The bytes have not arrived, or not all of them. */
  OBJECT_MISSING,
  /** The bytes go to the session. */
  RESUMABLE_UPLOAD,
  /** What is asked for does not fit the state the item or its upload is in. */
  WRONG_STATUS;

  /** The refusal, its detail a template with arguments. */
  @SuppressWarnings("AnnotateFormatMethod") // The annotation would be one more library.
  public ApiError of(String template, @Nullable Object... arguments) {
    return ApiError.of(ErrorCode.CONFLICT, template.formatted(arguments))
        .with("reason", name().toLowerCase(Locale.ROOT).replace('_', '-'));
  }
}
