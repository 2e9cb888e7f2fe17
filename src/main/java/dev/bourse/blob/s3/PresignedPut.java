package dev.bourse.blob.s3;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;
import software.amazon.awssdk.services.s3.presigner.model.PresignedPutObjectRequest;

/**
 * One object that somebody else's store may be sent, by the keys they gave; nothing is asked of the
 * store, and whoever has a client of their own sends it.
 *
 * @param address with the signature in its query
 * @param headers that are signed, and must be sent
 */
public record PresignedPut(String address, Map<String, String> headers) {
  /** More than an attempt takes, and little for an address that somebody finds in a log. */
  private static final Duration LIFETIME = Duration.ofMinutes(5);

  public PresignedPut {
    headers = Map.copyOf(headers);
  }

  /**
   * Signs, which takes milliseconds.
   *
   * @param object its name below the store's prefix
   * @param md5 as {@link #md5} makes it: the store refuses other bytes, and one that locks objects
   *     demands it; empty for none
   */
  public static PresignedPut of(
      S3Config store,
      String accessKeyId,
      String secretAccessKey,
      String object,
      String md5,
      String contentType) {
    S3Presigner.Builder signing =
        S3Presigner.builder()
            .region(Region.of(store.region()))
            .credentialsProvider(
                StaticCredentialsProvider.create(
                    AwsBasicCredentials.create(accessKeyId, secretAccessKey)))
            .serviceConfiguration(
                S3Configuration.builder().pathStyleAccessEnabled(store.pathStyle()).build());
    store.endpoint().ifPresent(signing::endpointOverride);
    try (S3Presigner presigner = signing.build()) {
      PresignedPutObjectRequest signed =
          presigner.presignPutObject(
              put ->
                  put.signatureDuration(LIFETIME)
                      .putObjectRequest(
                          request ->
                              request
                                  .bucket(store.bucket())
                                  .key(store.prefix() + object)
                                  .contentType(contentType)
                                  .contentMD5(md5.isEmpty() ? null : md5)));
      Map<String, String> headers = new HashMap<>();
      signed
          .signedHeaders()
          .forEach(
              (name, values) -> {
                String small = name.toLowerCase(Locale.ROOT);
                if (!small.equals("host")) {
                  headers.put(small, values.get(0));
                }
              });
      return new PresignedPut(signed.url().toString(), headers);
    }
  }

  /** What the header {@code content-md5} says of some bytes. */
  public static String md5(byte[] bytes) {
    try {
      return Base64.getEncoder().encodeToString(MessageDigest.getInstance("MD5").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has MD5", e);
    }
  }
}
