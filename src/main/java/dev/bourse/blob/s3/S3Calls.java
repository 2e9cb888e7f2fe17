package dev.bourse.blob.s3;

import dev.bourse.blob.BlobNotFoundException;
import dev.bourse.blob.StorageFaultException;
import dev.bourse.blob.StorageFullException;
import dev.bourse.core.ThisProcess;
import java.net.URI;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsRequest;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.NoSuchUploadException;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;
import software.amazon.awssdk.services.s3.presigner.S3Presigner;

/**
 * The calls to an object store. Each runs on the caller's thread, and the library retries it when
 * the store is slow or fails. Remaining failures are mapped to the port's exceptions: {@link
 * BlobNotFoundException} if the object does not exist, {@link StorageFullException}, and {@link
 * StorageFaultException} for the rest.
 */
final class S3Calls implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(S3Calls.class);

  /** A reachable store answers within milliseconds. */
  private static final Duration CONNECT = Duration.ofSeconds(3);

  /** One attempt: a part of 16 MiB at 280 KB/s. */
  private static final Duration TRY = Duration.ofSeconds(60);

  /** All attempts together; a client's request waits for them. */
  private static final Duration CALL = Duration.ofSeconds(150);

  /**
   * Completions may take minutes: some services copy an object's parts together and send blanks
   * until they are done, as Amazon documents too. A second request would restart the copy.
   */
  private static final Duration COMPLETION = Duration.ofMinutes(10);

  /**
   * A call at start-up is short, because an operator waits for it to read why the service does not
   * start.
   */
  private static final Duration FIRST_CALL = Duration.ofSeconds(30);

  private static final String BINARY = "application/octet-stream";

  /** Error codes of a full store. Amazon's own never is full. */
  private static final Set<String> FULL =
      Set.of(
          "InsufficientStorage",
          "XMinioStorageFull",
          "QuotaExceeded",
          "EntityTooLargeForQuota",
          "ServiceQuotaExceeded");

  /** Error codes of an object or a multipart upload that does not exist. */
  private static final Set<String> GONE = Set.of("NoSuchKey", "NoSuchUpload", "NotFound");

  /** Error codes of a completion whose parts differ from the stored ones. */
  private static final Set<String> OTHER_PARTS = Set.of("InvalidPart", "InvalidPartOrder");

  /** Error codes of bytes that differ from the digest in the request. */
  private static final Set<String> ALTERED = Set.of("BadDigest", "XAmzContentSHA256Mismatch");

  /** Means altered bytes if the bytes were signed; otherwise a wrong secret key. */
  private static final String WRONG_SIGNATURE = "SignatureDoesNotMatch";

  /** Error codes of rejected credentials. */
  private static final Set<String> REFUSED_CREDENTIALS =
      Set.of(WRONG_SIGNATURE, "InvalidAccessKeyId", "InvalidToken", "ExpiredToken");

  /** Equals the library's number of attempts. A network that alters three copies is broken. */
  private static final int TRIES_OF_ALTERED = 3;

  private static final int INSUFFICIENT_STORAGE = 507;
  private static final int NOT_FOUND = 404;

  private final S3Config config;
  private final SdkHttpClient http;
  private final S3Client client;
  private final S3Presigner presigner;
  private final CallListener listener;

  /** True if the newest tag of an object or part was the MD5 of its bytes. */
  private volatile boolean tagsAreDigests = true;

  /**
   * @param listener receives all calls except those of {@link #check}
   */
  S3Calls(S3Config config, CallListener listener) {
    this(config, listener, usualRetries());
  }

  /**
   * Returns the retry strategy of one client: three attempts with pauses that double, and only one
   * attempt while most calls of the client fail, so that an outage does not triple the requests.
   */
  static RetryStrategy usualRetries() {
    return AwsRetryStrategy.standardRetryStrategy();
  }

  S3Calls(S3Config config, CallListener listener, RetryStrategy retries) {
    this.config = config;
    this.listener = listener;
    AwsCredentialsProvider credentials = credentials(config);
    S3Configuration style =
        S3Configuration.builder().pathStyleAccessEnabled(config.pathStyle()).build();
    http =
        new ClosingHttp(
            UrlConnectionHttpClient.builder()
                .connectionTimeout(CONNECT)
                .socketTimeout(config.silence())
                .build());
    client =
        S3Client.builder()
            .region(Region.of(config.region()))
            .applyMutation(builder -> config.endpoint().ifPresent(builder::endpointOverride))
            .credentialsProvider(credentials)
            .serviceConfiguration(style)
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            .httpClient(http)
            .overrideConfiguration(
                settings ->
                    settings.retryStrategy(retries).apiCallAttemptTimeout(TRY).apiCallTimeout(CALL))
            .build();
    S3Presigner.Builder signing =
        S3Presigner.builder()
            .region(Region.of(config.region()))
            .credentialsProvider(credentials)
            .serviceConfiguration(style);
    config.endpoint().ifPresent(signing::endpointOverride);
    presigner = signing.build();
  }

  private static AwsCredentialsProvider credentials(S3Config config) {
    return config
        .credentialsFile()
        .<AwsCredentialsProvider>map(
            file ->
                ProfileCredentialsProvider.builder()
                    .profileFile(
                        ProfileFile.builder()
                            .content(file)
                            .type(ProfileFile.Type.CREDENTIALS)
                            .build())
                    .build())
        .orElseGet(() -> DefaultCredentialsProvider.builder().build());
  }

  private String key(String object) {
    return config.prefix() + object;
  }

  /** Starts a multipart upload and returns its id. */
  String begin(String object) {
    return call(
            "begin " + object,
            () ->
                client.createMultipartUpload(
                    r -> r.bucket(config.bucket()).key(key(object)).contentType(BINARY)))
        .uploadId();
  }

  /**
   * Returns whether the store's newest tag was a digest, so that bytes may be sent before their
   * digest is known.
   */
  boolean tagsAreDigests() {
    return tagsAreDigests;
  }

  /**
   * Sends a part and returns the store's tag of it. Fails with {@link
   * UploadReceipt.UnverifiedException} if the response does not prove that the store has these
   * bytes.
   */
  String send(String object, String multipart, int number, Payload payload) {
    return sendVerified(
        "send part " + number + " of " + object,
        payload,
        md5 -> {
          UploadPartResponse answer =
              client.uploadPart(
                  r ->
                      r.bucket(config.bucket())
                          .key(key(object))
                          .uploadId(multipart)
                          .partNumber(number)
                          .contentMD5(md5)
                          .contentLength(payload.bytes()),
                  body(payload));
          return UploadReceipt.of(
              answer.eTag(), answer.serverSideEncryptionAsString(), answer.sseCustomerAlgorithm());
        });
  }

  private static RequestBody body(Payload payload) {
    return RequestBody.fromContentProvider(payload.stream()::get, payload.bytes(), BINARY);
  }

  /** Sends bytes, a few times at most, until the store has them unaltered, and returns its tag. */
  private String sendVerified(
      String what, Payload payload, Function<@Nullable String, UploadReceipt> send) {
    for (int left = TRIES_OF_ALTERED; ; left--) {
      try {
        return call(
            what,
            bytesAreSigned(),
            () -> verified(what, payload, send.apply(payload.header().orElse(null))));
      } catch (UploadReceipt.AlteredException e) {
        if (left == 1) {
          throw e;
        }
        LOG.warn("{}; sending again", e.getMessage());
      }
    }
  }

  /** The library signs bytes over plain HTTP only, because TLS finds altered ones by itself. */
  private boolean bytesAreSigned() {
    return config.endpoint().filter(at -> "http".equalsIgnoreCase(at.getScheme())).isPresent();
  }

  private String verified(String what, Payload payload, UploadReceipt taken) {
    tagsAreDigests = taken.isDigest();
    taken.verify(what, payload);
    return taken.tag();
  }

  /**
   * Completes a multipart upload. Fails with {@link PartsLostException} if its parts differ, and
   * with {@link BlobNotFoundException} if there is no such upload, perhaps because it was completed
   * before.
   */
  void complete(String object, String multipart, List<S3Rows.Part> parts) {
    List<CompletedPart> completed =
        parts.stream()
            .map(part -> CompletedPart.builder().partNumber(part.number()).eTag(part.tag()).build())
            .toList();
    call(
        "complete " + object,
        () ->
            client.completeMultipartUpload(
                r ->
                    r.bucket(config.bucket())
                        .key(key(object))
                        .uploadId(multipart)
                        .multipartUpload(all -> all.parts(completed))
                        .overrideConfiguration(
                            call ->
                                call.apiCallAttemptTimeout(COMPLETION)
                                    .apiCallTimeout(COMPLETION))));
  }

  /** Ends a multipart upload and deletes its parts. Idempotent. */
  void abort(String object, String multipart) {
    try {
      abortKey(key(object), multipart);
    } catch (BlobNotFoundException e) {
      // It was aborted before.
    }
  }

  private void abortKey(String key, String multipart) {
    call(
        "abort " + key,
        () ->
            client.abortMultipartUpload(
                r -> r.bucket(config.bucket()).key(key).uploadId(multipart)));
  }

  /** Puts an object. */
  void put(String object, Payload payload) {
    sendVerified(
        "put " + object,
        payload,
        md5 -> {
          PutObjectResponse answer =
              client.putObject(
                  r ->
                      r.bucket(config.bucket())
                          .key(key(object))
                          .contentMD5(md5)
                          .contentLength(payload.bytes()),
                  body(payload));
          return UploadReceipt.of(
              answer.eTag(), answer.serverSideEncryptionAsString(), answer.sseCustomerAlgorithm());
        });
  }

  /**
   * Opens a range of an object's bytes. Fails with {@link BlobNotFoundException} if there is no
   * such object.
   *
   * @param end the offset after the range, at most the object's length, and greater than {@code
   *     from} unless both are 0
   */
  ResponseInputStream<GetObjectResponse> get(String object, long from, long end) {
    return call(
        "get " + object,
        () ->
            client.getObject(
                r -> {
                  r.bucket(config.bucket()).key(key(object));
                  if (end > 0) {
                    r.range("bytes=" + from + '-' + (end - 1));
                  }
                }));
  }

  /** Returns an object's length; empty if there is no such object. */
  OptionalLong length(String object) {
    try {
      return OptionalLong.of(
          call(
                  "look for " + object,
                  () -> client.headObject(r -> r.bucket(config.bucket()).key(key(object))))
              .contentLength());
    } catch (BlobNotFoundException e) {
      return OptionalLong.empty();
    }
  }

  /** Deletes an object. Idempotent. */
  void delete(String object) {
    try {
      call(
          "delete " + object,
          () -> client.deleteObject(r -> r.bucket(config.bucket()).key(key(object))));
    } catch (BlobNotFoundException e) {
      // Some services answer this for a missing object.
    }
  }

  /** A multipart upload of the store, with its full key. */
  record Multipart(String key, String id) {}

  /** Returns the multipart uploads under the prefix that were started before a time. */
  List<Multipart> multiparts(Instant before) {
    List<Multipart> found = new ArrayList<>();
    ListMultipartUploadsRequest.Builder next =
        ListMultipartUploadsRequest.builder().bucket(config.bucket()).prefix(config.prefix());
    ListMultipartUploadsResponse page;
    do {
      page = call("list multipart uploads", () -> client.listMultipartUploads(next.build()));
      page.uploads().stream()
          .filter(one -> one.initiated().isBefore(before))
          .map(one -> new Multipart(one.key(), one.uploadId()))
          .forEach(found::add);
      next.keyMarker(page.nextKeyMarker()).uploadIdMarker(page.nextUploadIdMarker());
    } while (Boolean.TRUE.equals(page.isTruncated()) && page.nextKeyMarker() != null);
    return found;
  }

  void abort(Multipart multipart) {
    try {
      abortKey(multipart.key(), multipart.id());
    } catch (BlobNotFoundException e) {
      // It was aborted before.
    }
  }

  /**
   * Returns an address at which anybody can read an object for a while. Does not call the store.
   */
  URI address(String object, Duration lifetime, Map<String, String> headers) {
    GetObjectRequest.Builder request =
        GetObjectRequest.builder().bucket(config.bucket()).key(key(object));
    headers.forEach(
        (name, value) -> {
          switch (name) {
            case "Content-Type" -> request.responseContentType(value);
            case "Content-Disposition" -> request.responseContentDisposition(value);
            case "Cache-Control" -> request.responseCacheControl(value);
            default -> throw new IllegalArgumentException("not a header of an address: " + name);
          }
        });
    return URI.create(
        presigner
            .presignGetObject(r -> r.signatureDuration(lifetime).getObjectRequest(request.build()))
            .url()
            .toString());
  }

  /**
   * Tries the store: lists, writes and deletes.
   *
   * @throws S3UnusableException if it fails; the message names the cause: the bucket, the
   *     credentials, the clock or the address
   */
  void check() {
    try {
      list();
      writeProbe(key("probe"));
      deleteProbe(key("probe"));
    } catch (SdkException e) {
      throw S3UnusableException.because(config, e);
    }
  }

  /**
   * Tries the store as {@link #check} does, and reads the object it wrote.
   *
   * @return how many milliseconds the store's clock is ahead of ours, to about a second; empty if
   *     the store does not send its time
   * @throws S3UnusableException as {@link #check} does
   */
  OptionalLong probe(Clock clock) {
    try {
      long begin = clock.millis();
      Optional<String> date = list();
      long middle = begin + (clock.millis() - begin) / 2;
      // A name of this process alone, because other processes delete theirs at any time.
      String probe = key("probe-" + ThisProcess.name().replace(':', '-'));
      writeProbe(probe);
      client.getObjectAsBytes(
          r -> r.bucket(config.bucket()).key(probe).overrideConfiguration(S3Calls::limitFirstCall));
      deleteProbe(probe);
      return date.map(S3Calls::httpDate)
          .filter(OptionalLong::isPresent)
          .map(at -> OptionalLong.of(at.getAsLong() - middle))
          .orElse(OptionalLong.empty());
    } catch (SdkException e) {
      throw S3UnusableException.because(config, e);
    }
  }

  /** Returns the middle of the second that a header names. */
  private static OptionalLong httpDate(String header) {
    try {
      return OptionalLong.of(
          ZonedDateTime.parse(header, DateTimeFormatter.RFC_1123_DATE_TIME)
                  .toInstant()
                  .toEpochMilli()
              + 500);
    } catch (DateTimeException odd) {
      return OptionalLong.empty();
    }
  }

  private static void limitFirstCall(AwsRequestOverrideConfiguration.Builder call) {
    call.apiCallTimeout(FIRST_CALL);
  }

  /** Lists one object and returns the response's date header. */
  private Optional<String> list() {
    return client
        .listObjectsV2(
            r ->
                r.bucket(config.bucket())
                    .prefix(config.prefix())
                    .maxKeys(1)
                    .overrideConfiguration(S3Calls::limitFirstCall))
        .sdkHttpResponse()
        .firstMatchingHeader("Date");
  }

  /** Writes a test object. Its name cannot be a blob's, because their names begin differently. */
  private void writeProbe(String probe) {
    client.putObject(
        r -> r.bucket(config.bucket()).key(probe).overrideConfiguration(S3Calls::limitFirstCall),
        RequestBody.fromBytes(new byte[1]));
  }

  private void deleteProbe(String probe) {
    client.deleteObject(
        r -> r.bucket(config.bucket()).key(probe).overrideConfiguration(S3Calls::limitFirstCall));
  }

  /**
   * @param what an operation, a blank, and the object of the operation
   */
  private <T> T call(String what, Supplier<T> call) {
    return call(what, false, call);
  }

  /**
   * @param signsBytes whether the signature covers bytes, which the network may alter
   */
  private <T> T call(String what, boolean signsBytes, Supplier<T> call) {
    long begin = System.nanoTime();
    T answer;
    try {
      answer = call.get();
    } catch (AwsServiceException e) {
      RuntimeException failure = mapped(what, signsBytes, e);
      ended(what, outcome(failure), begin);
      throw failure;
    } catch (SdkException e) {
      ended(what, CallListener.Outcome.UNANSWERED, begin);
      throw new StorageFaultException("object store: cannot " + what, e);
    } catch (UploadReceipt.AlteredException e) {
      ended(what, CallListener.Outcome.REFUSED, begin);
      throw e;
    }
    ended(what, CallListener.Outcome.DONE, begin);
    return answer;
  }

  private void ended(String what, CallListener.Outcome outcome, long begin) {
    listener.ended(what.substring(0, what.indexOf(' ')), outcome, System.nanoTime() - begin);
  }

  private static CallListener.Outcome outcome(RuntimeException failure) {
    return failure instanceof BlobNotFoundException
        ? CallListener.Outcome.MISSING
        : failure instanceof StorageFullException
            ? CallListener.Outcome.FULL
            : CallListener.Outcome.REFUSED;
  }

  private RuntimeException mapped(String what, boolean signsBytes, AwsServiceException e) {
    String code = code(e);
    if (ALTERED.contains(code)) {
      return new UploadReceipt.AlteredException(
          "object store: received altered bytes, " + code + ": " + what, e);
    }
    if (signsBytes && code.equals(WRONG_SIGNATURE)) {
      return new UploadReceipt.AlteredException(
          "object store: received altered bytes or has another secret key, %s: %s"
              .formatted(code, what),
          e);
    }
    if (REFUSED_CREDENTIALS.contains(code)) {
      return new StorageFaultException(
          "object store: cannot %s: %s"
              .formatted(what, S3UnusableException.because(config, e).getMessage()),
          e);
    }
    if (OTHER_PARTS.contains(code)) {
      return new PartsLostException("object store: the parts differ: " + what);
    }
    if (e.statusCode() == INSUFFICIENT_STORAGE || FULL.contains(code)) {
      return new StorageFullException("object store: no space left: " + what, e);
    }
    return isOfObject(e, code)
        ? new BlobNotFoundException("object store: not found: " + what)
        : new StorageFaultException("object store: cannot " + what, e);
  }

  /**
   * Returns whether the store itself reported a missing object or upload. A response to HEAD has no
   * body and so no code. Any other 404 without a code came from another program, for example a load
   * balancer.
   */
  private static boolean isOfObject(AwsServiceException e, String code) {
    return e instanceof NoSuchKeyException
        || e instanceof NoSuchUploadException
        || (e.statusCode() == NOT_FOUND && GONE.contains(code));
  }

  /** Returns the error's code; empty if the response had none. */
  static String code(AwsServiceException e) {
    @Nullable String code = e.awsErrorDetails() == null ? null : e.awsErrorDetails().errorCode();
    return Objects.requireNonNullElse(code, "");
  }

  @Override
  public void close() {
    presigner.close();
    client.close();
    http.close();
  }
}
