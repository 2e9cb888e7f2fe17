package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * A server of S3's protocol on this machine's loopback, in a process of its own, started once for
 * all tests of a JVM and ended with it, however it ends. Maven lays its jar out; a test that shares
 * it with others takes a bucket of its own.
 */
public final class S3Server {
  public static final String ACCESS_KEY = "test-access-key";
  public static final String SECRET_KEY = "test-secret-key";
  public static final String REGION = "us-east-1";

  private static final int START_SECONDS = 180;
  private static final AtomicInteger BUCKETS = new AtomicInteger();

  /**
   * Runs a program in the background until this process has nobody to read from, which is when the
   * JVM is gone, even killed; then its folder goes too. An interrupt from a terminal, which reaches
   * the JVM as well, must not end this first.
   */
  private static final String UNTIL_THE_JVM_ENDS =
      "trap '' INT TERM HUP; folder=$1; shift; \"$@\" >\"$folder/log\" 2>&1 & "
          + "cat >/dev/null; kill -9 $!; wait; rm -rf \"$folder\"";

  private final int port;
  private final Path folder;

  /** Its standard input keeps the server alive, so it is kept as long as this class. */
  @SuppressWarnings("unused")
  private final Process process;

  private S3Server(String jar, Pattern ready, Path folder, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("/bin/sh", "-c", UNTIL_THE_JVM_ENDS, "sh", folder.toString()));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(arguments);
    try {
      this.folder = folder;
      Files.writeString(
          credentials(),
          "[default]\naws_access_key_id=%s\naws_secret_access_key=%s\n"
              .formatted(ACCESS_KEY, SECRET_KEY));
      process = new ProcessBuilder(command).start();
      port = awaitPort(jar, folder.resolve("log"), ready);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** S3Proxy, which keeps objects in a folder and refuses requests signed with other keys. */
  public static S3Server s3proxy() {
    return S3Proxy.SERVER;
  }

  /** S3Mock, which keeps objects in a folder, takes any key and no parts under 5 MiB. */
  public static S3Server s3mock() {
    return S3Mock.SERVER;
  }

  /** Started by the first who asks. */
  private static final class S3Proxy {
    static final S3Server SERVER = start();

    private static S3Server start() {
      try {
        Path folder = Files.createTempDirectory("s3proxy");
        Files.createDirectory(folder.resolve("objects"));
        Path settings = folder.resolve("settings");
        Files.writeString(
            settings,
            String.join(
                "\n",
                "s3proxy.endpoint=http://127.0.0.1:0",
                "s3proxy.authorization=aws-v2-or-v4",
                "s3proxy.identity=" + ACCESS_KEY,
                "s3proxy.credential=" + SECRET_KEY,
                "jclouds.provider=filesystem-nio2",
                "jclouds.filesystem.basedir=" + folder.resolve("objects")));
        return new S3Server(
            "s3proxy.jar",
            Pattern.compile("Started \\S*ServerConnector@.*\\{127\\.0\\.0\\.1:(\\d+)}"),
            folder,
            List.of("-jar", jar("s3proxy.jar"), "--properties", settings.toString()));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Started by the first who asks. */
  private static final class S3Mock {
    static final S3Server SERVER = start();

    private static S3Server start() {
      try {
        Path folder = Files.createTempDirectory("s3mock");
        Path objects = Files.createDirectory(folder.resolve("objects"));
        return new S3Server(
            "s3mock.jar",
            Pattern.compile("Tomcat started on ports \\d+ \\(https\\), (\\d+) \\(http\\)"),
            folder,
            List.of(
                "-Dserver.address=127.0.0.1",
                "-Dserver.port=0",
                "-Dcom.adobe.testing.s3mock.httpPort=0",
                "-Dcom.adobe.testing.s3mock.store.root=" + objects,
                "-jar",
                jar("s3mock.jar")));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static String jar(String name) {
    Path jar = Path.of("target", "servers", name).toAbsolutePath();
    assertTrue(
        Files.isReadable(jar),
        () -> jar + " is not there: mvn dependency:copy@servers-of-tests lays it out");
    return jar.toString();
  }

  private int awaitPort(String jar, Path log, Pattern ready)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (System.nanoTime() < deadline) {
      Matcher found = ready.matcher(Files.exists(log) ? Files.readString(log) : "");
      if (found.find()) {
        return Integer.parseInt(found.group(1));
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
    throw new AssertionError(jar + " does not start: " + Files.readString(log));
  }

  public int port() {
    return port;
  }

  public URI endpoint() {
    return endpoint(port);
  }

  /** The address of a server or a proxy on this machine. */
  public static URI endpoint(int port) {
    return URI.create("http://127.0.0.1:" + port);
  }

  /** Where it keeps what it keeps, and its log. */
  public Path folder() {
    return folder;
  }

  /** A file with the keys that it takes. */
  public Path credentials() {
    return folder.resolve("credentials");
  }

  /** What has a service keep its blobs in a bucket of this server, and further settings. */
  public String[] settings(String bucket, String... others) {
    return Stream.concat(
            Stream.of(
                "checkpoints.store=" + store(bucket),
                "checkpoints.s3-credentials-file=" + credentials()),
            Stream.of(others))
        .toArray(String[]::new);
  }

  /** A new, empty bucket; its name. */
  public String newBucket() {
    String bucket = "bucket-" + BUCKETS.incrementAndGet();
    try (S3Client client = client()) {
      client.createBucket(request -> request.bucket(bucket));
    }
    return bucket;
  }

  /** What {@code checkpoints.store} names a bucket of this server with. */
  public String store(String bucket) {
    return store(bucket, port);
  }

  /** The same for a bucket that is reached through a proxy on this machine. */
  public static String store(String bucket, int port) {
    return "s3://"
        + bucket
        + "/bourse?endpoint="
        + endpoint(port)
        + "&region="
        + REGION
        + "&path-style=true";
  }

  /** A client of it, to be closed; for what a test wants to know without the service. */
  public S3Client client() {
    return S3Client.builder()
        .endpointOverride(endpoint())
        .region(Region.of(REGION))
        .forcePathStyle(true)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create(ACCESS_KEY, SECRET_KEY)))
        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
        .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
        .httpClientBuilder(UrlConnectionHttpClient.builder())
        .build();
  }

  /** The keys of all objects of a bucket, with their lengths in bytes. */
  public List<String> objects(String bucket) {
    try (S3Client client = client()) {
      return client.listObjectsV2Paginator(request -> request.bucket(bucket)).contents().stream()
          .map(object -> object.key() + " " + object.size())
          .sorted()
          .toList();
    }
  }

  /** The keys of all multipart uploads of a bucket that are neither completed nor aborted. */
  public List<String> multiparts(String bucket) {
    try (S3Client client = client()) {
      return client.listMultipartUploads(request -> request.bucket(bucket)).uploads().stream()
          .map(upload -> upload.key() + " " + upload.uploadId())
          .sorted()
          .toList();
    }
  }
}
