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
 * A signed request that puts one object into a tenant's store with the tenant's keys. Creating it
 * does not call the store; the caller sends it with its own HTTP client.
 *
 * @param address the address, with the signature in its query
 * @param headers the signed headers, which must be sent
 */
public record PresignedPut(String address, Map<String, String> headers) {
  /**
   * Longer than an attempt takes, and short enough to limit the damage if the address leaks from a
   * log.
   */
  private static final Duration LIFETIME = Duration.ofMinutes(5);

  public PresignedPut {
    headers = Map.copyOf(headers);
  }

  /**
   * Signs a request, which takes milliseconds.
   *
   * @param object the object's name below the store's prefix
   * @param md5 the result of {@link #md5}; the store then rejects other bytes. A bucket with object
   *     locks requires it. Empty for none.
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

  /** Returns the value of the header {@code content-md5} for some bytes. */
  public static String md5(byte[] bytes) {
    try {
      return Base64.getEncoder().encodeToString(MessageDigest.getInstance("MD5").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has MD5", e);
    }
  }
}
