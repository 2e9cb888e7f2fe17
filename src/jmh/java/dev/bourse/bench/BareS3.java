package dev.bourse.bench;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/**
 * The least an object store takes and gives: the SDK's client alone, which sends a file in the
 * service's parts, one after another, and reads it back, again and again.
 *
 * <p>Arguments: the store's endpoint, a bucket that is there, a file, and how often. Prints for
 * each time but the first, which compiles the code, the MB/s sent, the MB/s read and the
 * milliseconds to the first byte, the middle one of {@value #FIRST_BYTES}; then path and query at
 * which anybody may read it for an hour. The environment has the credentials.
 */
public final class BareS3 {
  private static final int PART_BYTES = 16 << 20;
  private static final int FIRST_BYTES = 201;
  private static final Duration HOUR = Duration.ofHours(1);
  private static final String KEY = "bare";

  private final S3Client store;
  private final String bucket;
  private final FileChannel file;

  private BareS3(S3Client store, String bucket, FileChannel file) {
    this.store = store;
    this.bucket = bucket;
    this.file = file;
  }

  public static void main(String[] args) throws IOException {
    try (S3Client store =
            S3Client.builder()
                .endpointOverride(URI.create(args[0]))
                .region(Region.US_EAST_1)
                .forcePathStyle(true)
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                .httpClientBuilder(UrlConnectionHttpClient.builder())
                .build();
        FileChannel file = FileChannel.open(Path.of(args[2]))) {
      BareS3 bare = new BareS3(store, args[1], file);
      String address = bare.address(args[0]);
      for (int i = 0; i <= Integer.parseInt(args[3]); i++) {
        String told = bare.upload() + " " + bare.download() + " " + bare.firstByte();
        if (i > 0) {
          System.out.println(told + " " + address);
        }
      }
    }
  }

  private String upload() throws IOException {
    long begin = System.nanoTime();
    String id = store.createMultipartUpload(r -> r.bucket(bucket).key(KEY)).uploadId();
    List<CompletedPart> parts = new ArrayList<>();
    for (long at = 0; at < file.size(); at += PART_BYTES) {
      ByteBuffer part = ByteBuffer.allocate((int) Math.min(PART_BYTES, file.size() - at));
      while (part.hasRemaining() && file.read(part, at + part.position()) >= 0) {
        // It is filled by as many reads as it takes.
      }
      int bytes = part.position();
      int number = parts.size() + 1;
      String tag =
          store
              .uploadPart(
                  r -> r.bucket(bucket).key(KEY).uploadId(id).partNumber(number),
                  RequestBody.fromContentProvider(
                      () -> new ByteArrayInputStream(part.array(), 0, bytes),
                      bytes,
                      "application/octet-stream"))
              .eTag();
      parts.add(CompletedPart.builder().partNumber(number).eTag(tag).build());
    }
    store.completeMultipartUpload(
        r -> r.bucket(bucket).key(KEY).uploadId(id).multipartUpload(m -> m.parts(parts)));
    return rate(begin);
  }

  private String download() throws IOException {
    long begin = System.nanoTime();
    try (ResponseInputStream<?> answer = store.getObject(r -> r.bucket(bucket).key(KEY))) {
      answer.transferTo(OutputStream.nullOutputStream());
      return rate(begin);
    }
  }

  private String firstByte() throws IOException {
    double[] millis = new double[FIRST_BYTES];
    for (int i = 0; i < millis.length; i++) {
      long begin = System.nanoTime();
      ResponseInputStream<?> answer = store.getObject(r -> r.bucket(bucket).key(KEY));
      if (answer.read() < 0) {
        throw new IOException("the object is empty");
      }
      millis[i] = (System.nanoTime() - begin) / 1e6;
      answer.abort();
    }
    Arrays.sort(millis);
    return String.format(Locale.ROOT, "%.1f", millis[FIRST_BYTES / 2]);
  }

  private String address(String endpoint) {
    try (S3Presigner presigner =
        S3Presigner.builder()
            .endpointOverride(URI.create(endpoint))
            .region(Region.US_EAST_1)
            .serviceConfiguration(S3Configuration.builder().pathStyleAccessEnabled(true).build())
            .build()) {
      return presigner
          .presignGetObject(
              r -> r.signatureDuration(HOUR).getObjectRequest(o -> o.bucket(bucket).key(KEY)))
          .url()
          .getFile();
    }
  }

  private String rate(long begin) throws IOException {
    return String.format(Locale.ROOT, "%.0f", file.size() * 1e3 / (System.nanoTime() - begin));
  }
}
