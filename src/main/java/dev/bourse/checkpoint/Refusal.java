package dev.bourse.checkpoint;

import dev.bourse.core.ApiError;
import dev.bourse.core.ErrorCode;
import java.util.Locale;

/** Why something stands in the way: the {@code reason} of a {@code conflict}. */
enum Refusal {
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

  ApiError of(String detail) {
    return ApiError.of(ErrorCode.CONFLICT, detail)
        .with("reason", name().toLowerCase(Locale.ROOT).replace('_', '-'));
  }
}
