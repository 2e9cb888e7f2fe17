package dev.bourse.blob.s3;

import dev.bourse.blob.BlobGone;
import dev.bourse.blob.StorageFault;
import dev.bourse.blob.StorageFull;
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
 * The calls to an object store, each made on the thread that asks and repeated by the library when
 * the store is slow or fails. What still fails afterwards is told as the port tells it: {@link
 * BlobGone} for what is not there, {@link StorageFull}, {@link StorageFault} for the rest.
 */
final class S3Calls implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(S3Calls.class);

  /** A store that is there answers within milliseconds. */
  private static final Duration CONNECT = Duration.ofSeconds(3);

  /** One try: a part of 16 MiB at 280 KB/s. */
  private static final Duration TRY = Duration.ofSeconds(60);

  /** All tries together; a client's request waits for them. */
  private static final Duration CALL = Duration.ofSeconds(150);

  /**
   * A service that copies an object's parts together answers at once, says blanks meanwhile, and
   * takes minutes; asked again it would begin to copy anew. Amazon says the same of its own.
   */
  private static final Duration COMPLETION = Duration.ofMinutes(10);

  /** A call at the start: whoever starts a service waits for it, and reads why it does not. */
  private static final Duration FIRST_CALL = Duration.ofSeconds(30);

  private static final String BINARY = "application/octet-stream";

  /** What services say when there is no room; Amazon's own never is full. */
  private static final Set<String> FULL =
      Set.of(
          "InsufficientStorage",
          "XMinioStorageFull",
          "QuotaExceeded",
          "EntityTooLargeForQuota",
          "ServiceQuotaExceeded");

  /** What they say of an object or a multipart upload that is not there. */
  private static final Set<String> GONE = Set.of("NoSuchKey", "NoSuchUpload", "NotFound");

  /** What they say when the parts are not those that were listed. */
  private static final Set<String> OTHER_PARTS = Set.of("InvalidPart", "InvalidPartOrder");

  /** What services say when the digest of the bytes that arrived is not the one that was sent. */
  private static final Set<String> ALTERED = Set.of("BadDigest", "XAmzContentSHA256Mismatch");

  /** Of altered bytes if they were signed; otherwise of a wrong secret key. */
  private static final String WRONG_SIGNATURE = "SignatureDoesNotMatch";

  /** What services say of credentials that they do not accept. */
  private static final Set<String> REFUSED_CREDENTIALS =
      Set.of(WRONG_SIGNATURE, "InvalidAccessKeyId", "InvalidToken", "ExpiredToken");

  /** As often as the library repeats a request. A network that alters three copies is broken. */
  private static final int TRIES_OF_ALTERED = 3;

  private static final int INSUFFICIENT_STORAGE = 507;
  private static final int NOT_FOUND = 404;

  private final S3Config config;
  private final SdkHttpClient http;
  private final S3Client client;
  private final S3Presigner presigner;
  private final CallListener listener;

  /** Whether the newest tag of an object or part was the MD5 of its bytes. */
  private volatile boolean tagsAreDigests = true;

  /**
   * @param listener told of all calls but those of {@link #check}
   */
  S3Calls(S3Config config, CallListener listener) {
    this(config, listener, usualRetries());
  }

  /**
   * Returns the retries of one client: three tries with pauses that double, and only one when most
   * calls of the client fail, so that a store that is down is not asked three times as often.
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

  /** Begins a multipart upload and tells its id. */
  String begin(String object) {
    return call(
            "begin " + object,
            () ->
                client.createMultipartUpload(
                    r -> r.bucket(config.bucket()).key(key(object)).contentType(BINARY)))
        .uploadId();
  }

  /**
   * Returns whether the newest tag of the store was a digest, so that bytes may be sent before
   * their digest is known.
   */
  boolean tagsAreDigests() {
    return tagsAreDigests;
  }

  /**
   * Sends a part and returns the store's tag of it. Fails with {@link
   * UploadReceipt.UnverifiedException} if nothing shows that the store has these bytes.
   */
  String send(String object, String multipart, int number, Payload payload) {
    return taken(
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

  /** Sends bytes until the store has them unaltered, a few times at most, and returns its tag. */
  private String taken(
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
        LOG.warn("{}; it is sent again", e.getMessage());
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
   * Makes an object of a multipart upload's parts. Fails with {@link PartsLost} when they are not
   * those, with {@link BlobGone} when there is no such upload, perhaps because this was done
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

  /** Ends a multipart upload and deletes its parts. None there: nothing to do. */
  void abort(String object, String multipart) {
    try {
      abortKey(key(object), multipart);
    } catch (BlobGone e) {
      // Done before.
    }
  }

  private void abortKey(String key, String multipart) {
    call(
        "abort " + key,
        () ->
            client.abortMultipartUpload(
                r -> r.bucket(config.bucket()).key(key).uploadId(multipart)));
  }

  /** Makes an object of some bytes. */
  void put(String object, Payload payload) {
    taken(
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
   * Opens an object's bytes from an offset up to another; fails with {@link BlobGone} when it is
   * not there.
   *
   * @param end the object's length, or less, and greater than the offset unless both are 0
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

  /** An object's length; empty when it is not there. */
  OptionalLong length(String object) {
    try {
      return OptionalLong.of(
          call(
                  "look for " + object,
                  () -> client.headObject(r -> r.bucket(config.bucket()).key(key(object))))
              .contentLength());
    } catch (BlobGone e) {
      return OptionalLong.empty();
    }
  }

  /** Deletes an object. None there: nothing to do. */
  void delete(String object) {
    try {
      call(
          "delete " + object,
          () -> client.deleteObject(r -> r.bucket(config.bucket()).key(key(object))));
    } catch (BlobGone e) {
      // Some services say so.
    }
  }

  /** A multipart upload the store has, by the whole key. */
  record Multipart(String key, String id) {}

  /** The multipart uploads under the prefix that were begun before some time. */
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
    } catch (BlobGone e) {
      // Done before.
    }
  }

  /** An address at which anybody may read an object for a while; nothing is asked of the store. */
  URI address(String object, Duration lifetime, Map<String, String> headers) {
    GetObjectRequest.Builder request =
        GetObjectRequest.builder().bucket(config.bucket()).key(key(object));
    headers.forEach(
        (name, value) -> {
          switch (name) {
            case "Content-Type" -> request.responseContentType(value);
            case "Content-Disposition" -> request.responseContentDisposition(value);
            case "Cache-Control" -> request.responseCacheControl(value);
            default -> throw new IllegalArgumentException("no header for an address: " + name);
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
   * @throws S3Unusable that says what is wrong with the bucket, the credentials, the clock or the
   *     address
   */
  void check() {
    try {
      list();
      writeProbe(key("probe"));
      deleteProbe(key("probe"));
    } catch (SdkException e) {
      throw S3Unusable.because(config, e);
    }
  }

  /**
   * Tries the store as {@link #check} does, and reads what it wrote.
   *
   * @return how far the store's clock is before ours in milliseconds, to a second or so; empty when
   *     it does not say
   * @throws S3Unusable as {@link #check} does
   */
  OptionalLong probe(Clock clock) {
    try {
      long begin = clock.millis();
      Optional<String> date = list();
      long middle = begin + (clock.millis() - begin) / 2;
      // Of this process alone: others delete theirs at any time.
      String probe = key("probe-" + ThisProcess.name().replace(':', '-'));
      writeProbe(probe);
      client.getObjectAsBytes(
          r -> r.bucket(config.bucket()).key(probe).overrideConfiguration(S3Calls::soon));
      deleteProbe(probe);
      return date.map(S3Calls::httpDate)
          .filter(OptionalLong::isPresent)
          .map(at -> OptionalLong.of(at.getAsLong() - middle))
          .orElse(OptionalLong.empty());
    } catch (SdkException e) {
      throw S3Unusable.because(config, e);
    }
  }

  /** The middle of the second that a header names. */
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

  private static void soon(AwsRequestOverrideConfiguration.Builder call) {
    call.apiCallTimeout(FIRST_CALL);
  }

  /** When the store says it answered. */
  private Optional<String> list() {
    return client
        .listObjectsV2(
            r ->
                r.bucket(config.bucket())
                    .prefix(config.prefix())
                    .maxKeys(1)
                    .overrideConfiguration(S3Calls::soon))
        .sdkHttpResponse()
        .firstMatchingHeader("Date");
  }

  /** What is written to try the store is no blob: their names begin otherwise. */
  private void writeProbe(String probe) {
    client.putObject(
        r -> r.bucket(config.bucket()).key(probe).overrideConfiguration(S3Calls::soon),
        RequestBody.fromBytes(new byte[1]));
  }

  private void deleteProbe(String probe) {
    client.deleteObject(
        r -> r.bucket(config.bucket()).key(probe).overrideConfiguration(S3Calls::soon));
  }

  /**
   * @param what an operation and behind a blank what it is done to
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
      RuntimeException told = translated(what, signsBytes, e);
      ended(what, outcome(told), begin);
      throw told;
    } catch (SdkException e) {
      ended(what, CallListener.Outcome.UNANSWERED, begin);
      throw new StorageFault("the object store did not " + what, e);
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

  private static CallListener.Outcome outcome(RuntimeException told) {
    return told instanceof BlobGone
        ? CallListener.Outcome.MISSING
        : told instanceof StorageFull ? CallListener.Outcome.FULL : CallListener.Outcome.REFUSED;
  }

  private RuntimeException translated(String what, boolean signsBytes, AwsServiceException e) {
    String code = code(e);
    if (ALTERED.contains(code)) {
      return new UploadReceipt.AlteredException(
          "the object store received altered bytes, " + code + ": " + what, e);
    }
    if (signsBytes && code.equals(WRONG_SIGNATURE)) {
      return new UploadReceipt.AlteredException(
          "the object store received altered bytes or has another secret key, %s: %s"
              .formatted(code, what),
          e);
    }
    if (REFUSED_CREDENTIALS.contains(code)) {
      return new StorageFault(
          "the object store did not %s: %s"
              .formatted(what, S3Unusable.because(config, e).getMessage()),
          e);
    }
    if (OTHER_PARTS.contains(code)) {
      return new PartsLost("the object store has other parts: " + what);
    }
    if (e.statusCode() == INSUFFICIENT_STORAGE || FULL.contains(code)) {
      return new StorageFull("the object store has no room: " + what, e);
    }
    return isOfObject(e, code)
        ? new BlobGone("the object store has nothing of the kind: " + what)
        : new StorageFault("the object store did not " + what, e);
  }

  /**
   * Whether it is the store's own word that it has no such object or upload. An answer to HEAD has
   * no body, and so no code; another 404 without one is not the store's: a balancer's, say.
   */
  private static boolean isOfObject(AwsServiceException e, String code) {
    return e instanceof NoSuchKeyException
        || e instanceof NoSuchUploadException
        || (e.statusCode() == NOT_FOUND && GONE.contains(code));
  }

  /** The error's code; empty when the answer had none. */
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
