package dev.bourse.blob;

import dev.bourse.core.Digests;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * MiB a second into one upload whose inspector is SHA-256, from an event loop with as many blocks
 * waiting as may, beside a bare loop of digest and file channel with blocks of the same size.
 * Neither flushes; both delete their file.
 *
 * <p>Run: {@code mvn -Pbench test-compile dependency:build-classpath -Dmdep.outputFile=target/cp},
 * then {@code java -cp target/test-classes:target/classes:$(cat target/cp) org.openjdk.jmh.Main
 * BlobAppendBench}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(3)
@Warmup(iterations = 2, time = 2)
@Measurement(iterations = 5, time = 2)
public class BlobAppendBench {
  private static final int MEBIBYTES = 64;
  private static final int BLOCKS = MEBIBYTES * 4;

  private final byte[][] blocks = new byte[4][BlobStore.BLOCK_BYTES];
  private Path folder;
  private Vertx vertx;
  private LocalBlobs blobs;

  @Setup(Level.Trial)
  public void openStore() throws Exception {
    folder = Files.createTempDirectory("bourse-bench");
    vertx = Vertx.vertx();
    blobs =
        LocalBlobs.open(vertx, folder, BlobConfig.defaults(), Clock.systemUTC())
            .toCompletionStage()
            .toCompletableFuture()
            .get();
    Random random = new Random(1);
    for (byte[] block : blocks) {
      random.nextBytes(block);
    }
  }

  @TearDown(Level.Trial)
  public void deleteFolder() throws Exception {
    blobs.close().toCompletionStage().toCompletableFuture().get();
    vertx.close().toCompletionStage().toCompletableFuture().get();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  @Benchmark
  @OperationsPerInvocation(MEBIBYTES)
  public byte[] store() throws Exception {
    MessageDigest digest = Digests.newSha256();
    CompletableFuture<Void> done = new CompletableFuture<>();
    vertx.runOnContext(
        v ->
            blobs
                .open("u", (bytes, from, to) -> digest.update(bytes, from, to - from))
                .compose(
                    upload -> {
                      Future<?>[] lanes = new Future<?>[blocks.length];
                      for (int i = 0; i < blocks.length; i++) {
                        lanes[i] = append(upload, i);
                      }
                      return Future.join(List.of(lanes))
                          .compose(all -> upload.release())
                          .compose(released -> blobs.abandon("u"));
                    })
                .onSuccess(done::complete)
                .onFailure(done::completeExceptionally));
    done.get();
    return digest.digest();
  }

  /** Appends every fourth block, each when the one before it in the same array is written. */
  private Future<Void> append(Upload upload, int index) {
    byte[] block = blocks[index % blocks.length];
    return upload
        .append(block, 0, block.length)
        .compose(
            v -> {
              int next = index + blocks.length;
              return next < BLOCKS ? append(upload, next) : Future.succeededFuture();
            });
  }

  @Benchmark
  @OperationsPerInvocation(MEBIBYTES)
  public byte[] bare() throws Exception {
    MessageDigest digest = Digests.newSha256();
    Path file = folder.resolve("bare");
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (int i = 0; i < BLOCKS; i++) {
        byte[] block = blocks[i % blocks.length];
        digest.update(block);
        ByteBuffer bytes = ByteBuffer.wrap(block);
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
      }
    }
    Files.delete(file);
    return digest.digest();
  }
}
