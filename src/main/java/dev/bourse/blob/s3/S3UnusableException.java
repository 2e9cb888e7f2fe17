package dev.bourse.blob.s3;

import java.net.SocketTimeoutException;
import java.util.Locale;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkException;

/** An object store that is not usable as configured. The message is for operators. */
public final class S3UnusableException extends RuntimeException {
  private static final int FORBIDDEN = 403;
  private static final int NOT_FOUND = 404;

  private S3UnusableException(String message, Throwable cause) {
    super(message, cause);
  }

  static S3UnusableException because(S3Config config, SdkException failure) {
    return new S3UnusableException(config.name() + ": " + reason(config, failure), failure);
  }

  private static String reason(S3Config config, SdkException failure) {
    String place = config.endpoint().map(Object::toString).orElse("Amazon S3, " + config.region());
    if (!(failure instanceof AwsServiceException answer)) {
      String said = String.valueOf(failure.getMessage());
      if (isSilence(failure)) {
        return place + " accepts connections but does not answer: " + said;
      }
      return said.toLowerCase(Locale.ROOT).contains("credentials")
          ? "no credentials found: " + said
          : place + " cannot be reached, or is not an S3 service: " + said;
    }
    String code = S3Calls.code(answer);
    return switch (code) {
      case "NoSuchBucket" -> "there is no bucket '" + config.bucket() + "' at " + place;
      case "InvalidAccessKeyId",
          "SignatureDoesNotMatch",
          "AccessDenied",
          "InvalidToken",
          "ExpiredToken",
          "Forbidden" ->
          place + " rejects the credentials for bucket '" + config.bucket() + "': " + code;
      case "RequestTimeTooSkewed", "RequestExpired" ->
          "this machine's clock differs too much from the clock of " + place + ": " + code;
      default -> byStatus(config, answer, place, code);
    };
  }

  private static boolean isSilence(SdkException failure) {
    return failure instanceof ApiCallTimeoutException
        || failure instanceof ApiCallAttemptTimeoutException
        || (failure.getCause() instanceof SocketTimeoutException cause
            && !String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT).contains("connect"));
  }

  private static String byStatus(
      S3Config config, AwsServiceException answer, String place, String code) {
    if (answer.statusCode() == FORBIDDEN) {
      return place + " rejects the credentials for bucket '" + config.bucket() + "': 403 " + code;
    }
    if (answer.statusCode() == NOT_FOUND && code.isEmpty()) {
      return place + " is not an S3 service, or has no bucket '" + config.bucket() + "': 404";
    }
    return place + ": unexpected answer " + answer.statusCode() + ' ' + code;
  }
}
