package dev.bourse.testing;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;

/** The servers of S3's protocol that tests run do what the tests take for granted. */
class S3ServerTest {
  private static final int LEAST_PART_BYTES = 5 * 1024 * 1024;

  private static S3Server server(String name) {
    return name.equals("s3proxy") ? S3Server.s3proxy() : S3Server.s3mock();
  }

  @ParameterizedTest
  @Slow("starts a server of S3 in a process of its own")
  @ValueSource(strings = {"s3proxy", "s3mock"})
  void anObjectSentInPartsIsListedOnceItIsWhole(String name) {
    S3Server server = server(name);
    String bucket = server.newBucket();
    byte[] part = new byte[LEAST_PART_BYTES];
    new Random(1).nextBytes(part);
    try (S3Client client = server.client()) {
      String id =
          client.createMultipartUpload(request -> request.bucket(bucket).key("a/b")).uploadId();
      assertEquals(List.of("a/b " + id), server.multiparts(bucket));
      List<CompletedPart> parts =
          List.of(1, 2).stream()
              .map(
                  number ->
                      CompletedPart.builder()
                          .partNumber(number)
                          .eTag(
                              client
                                  .uploadPart(
                                      request ->
                                          request
                                              .bucket(bucket)
                                              .key("a/b")
                                              .uploadId(id)
                                              .partNumber(number),
                                      RequestBody.fromBytes(part))
                                  .eTag())
                          .build())
              .toList();
      assertEquals(List.of(), server.objects(bucket));
      client.completeMultipartUpload(
          request ->
              request
                  .bucket(bucket)
                  .key("a/b")
                  .uploadId(id)
                  .multipartUpload(all -> all.parts(parts)));
      assertEquals(List.of("a/b " + 2 * LEAST_PART_BYTES), server.objects(bucket));
      assertEquals(List.of(), server.multiparts(bucket));
      assertArrayEquals(
          part,
          client
              .getObjectAsBytes(
                  request ->
                      request.bucket(bucket).key("a/b").range("bytes=" + LEAST_PART_BYTES + "-"))
              .asByteArray());
    }
  }

  @Test
  void aServerEndsWithTheJvmThatStartedItAndLeavesNothing() throws Exception {
    Process jvm =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                Starter.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    Path folder = Path.of(jvm.inputReader(StandardCharsets.UTF_8).readLine());
    ProcessHandle server =
        jvm.descendants()
            .filter(one -> one.info().command().orElse("").endsWith("java"))
            .findFirst()
            .orElseThrow();
    assertTrue(Files.exists(folder));
    jvm.destroyForcibly();
    server.onExit().get(60, TimeUnit.SECONDS);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (Files.exists(folder)) {
      assertFalse(System.nanoTime() > deadline, folder + " is left");
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  /** Starts a server, says where it keeps its objects, and waits to be killed. */
  static final class Starter {
    private Starter() {}

    public static void main(String[] arguments) throws Exception {
      System.out.println(S3Server.s3proxy().folder());
      System.out.flush();
      Thread.currentThread().join();
    }
  }
}
