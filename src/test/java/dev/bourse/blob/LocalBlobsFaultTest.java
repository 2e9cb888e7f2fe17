package dev.bourse.blob;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.bourse.testing.Slow;
import io.vertx.core.Future;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A local store with full disks, killed processes, damaged folders and little memory. */
class LocalBlobsFaultTest extends BlobFixture {
  private static final byte[] BYTES = random(1, 300_000);

  @Test
  void aPublicationCutShortBeforeTheRenameIsDoneByTheNextCall() throws Exception {
    upload("u", BYTES);
    // A crash here happens after the file was flushed and its name was stored in the folder.
    Files.createDirectories(folder.resolve("blobs").resolve("00"));
    reopen(SMALL);
    assertFalse(await(blobs.exists("k")));
    assertEquals(BYTES.length, await(blobs.stored("u")));
    await(blobs.publish("u", "k"));
    assertArrayEquals(BYTES, blob("k"));
  }

  @Test
  void aKilledProcessLeavesEachBlobWholeOrNotThereAndEveryAcknowledgedOneThere() throws Exception {
    Random random = new Random(5);
    Path printed = folder.resolveSibling("printed");
    int next = 0;
    for (int round = 0; round < 3; round++) {
      Process child = child(List.of(), printed, "publish", Integer.toString(next));
      try {
        awaitLines(child, printed, 10 + random.nextInt(30));
      } finally {
        child.destroyForcibly().waitFor();
      }
      int acknowledged = -1;
      for (String line : Files.readAllLines(printed)) {
        if (line.endsWith(".")) {
          acknowledged = Integer.parseInt(line.substring(0, line.length() - 1));
        }
      }
      reopen(SMALL);
      for (int number = next; number <= acknowledged; number++) {
        checkWhole(number);
      }
      // The upload in progress is an upload or a blob, and the same call publishes it or it is
      // gone.
      int last = acknowledged + 1;
      assertFalse(await(blobs.stored("u" + last)) > 0 && await(blobs.exists("k" + last)));
      if (await(blobs.exists("k" + last))) {
        await(blobs.publish("u" + last, "k" + last));
        checkWhole(last);
      } else {
        checkPrefix(last, await(blobs.stored("u" + last)));
        await(blobs.abandon("u" + last));
      }
      assertEquals(List.of(), files("uploads"));
      next = last + 1;
    }
  }

  private void checkWhole(int number) throws Exception {
    byte[] bytes = blob("k" + number);
    assertEquals(BlobProcess.BLOCK * BlobProcess.BLOCKS, bytes.length, () -> "blob " + number);
    checkBytes(number, bytes);
  }

  private void checkPrefix(int number, long stored) throws Exception {
    if (stored > 0) {
      byte[] bytes = Files.readAllBytes(onlyFile("uploads"));
      assertEquals(stored, bytes.length);
      checkBytes(number, bytes);
    }
  }

  private static void checkBytes(int number, byte[] bytes) {
    byte expected = BlobProcess.block(number)[0];
    for (byte b : bytes) {
      assertEquals(expected, b);
    }
  }

  @Test
  void aFullDiskLeavesTheUploadAtItsLastWholeBlockAndTheStoreGoesOn() throws Exception {
    await(blobs.close());
    Path printed = folder.resolveSibling("printed");
    // A file is limited to 1,000 KiB, which is not a multiple of a block.
    List<String> limited = List.of("bash", "-c", "ulimit -f 1000 && exec \"$@\"", "limited");
    Process child = child(limited, printed, "fill");
    assertTrue(child.waitFor(60, TimeUnit.SECONDS));
    List<String> lines = Files.readAllLines(printed);
    assertEquals(3, lines.size(), lines::toString);
    assertTrue(lines.get(0).startsWith(StorageFullException.class.getName() + ": "), lines.get(0));
    assertEquals(Integer.toString(15 * BlobProcess.BLOCK), lines.get(1));
    assertEquals(Integer.toString(BlobProcess.BLOCK), lines.get(2));

    blobs = open(SMALL);
    Upload upload = await(blobs.open("large", NONE));
    assertEquals(15 * BlobProcess.BLOCK, upload.stored());
    await(append(upload, BlobProcess.block(1)));
    await(upload.release());
    await(blobs.publish("large", "large"));
    byte[] bytes = blob("large");
    assertEquals(16 * BlobProcess.BLOCK, bytes.length);
    checkBytes(1, bytes);
  }

  @Test
  void uploadsLeaveTheReserveOfTheDiskFree() throws Exception {
    upload("u", BYTES);
    reopen(new BlobConfig(2, 8, 4, 4, 64, Long.MAX_VALUE));
    Upload upload = await(blobs.open("u", NONE));
    StorageFullException full = failure(StorageFullException.class, append(upload, BYTES));
    assertTrue(String.valueOf(full.getMessage()).contains("bytes free under " + folder));
    failure(StorageFullException.class, append(upload, BYTES));
    await(upload.release());
    await(blobs.publish("u", "k"));
    assertArrayEquals(BYTES, blob("k"));
  }

  @Test
  void aFolderThatIsNoneIsAFaultOfTheCallsThatNeedItAlone() throws Exception {
    publish("k", BYTES);
    upload("u", BYTES);
    Path file = onlyFile("uploads");
    Path inTheWay = file.getParent();
    Files.move(inTheWay, folder.resolve("aside"));
    Files.createFile(inTheWay);
    failure(StorageFaultException.class, blobs.open("u", NONE));
    assertArrayEquals(BYTES, blob("k"));
    Files.delete(inTheWay);
    Files.move(folder.resolve("aside"), inTheWay, StandardCopyOption.ATOMIC_MOVE);
    assertEquals(BYTES.length, await(blobs.open("u", NONE)).stored());
  }

  @Test
  void callsThatWaitForTheDiskAreBoundedAndHoldUpNoBlock() throws Exception {
    reopen(new BlobConfig(2, 8, 4, 100, 12, 0));
    Upload upload = await(blobs.open("u", NONE));
    // Opening a pipe waits for its writer, so the test controls the duration of the call. Readers
    // of one blob share a call.
    BlobFiles files = new BlobFiles(folder, 0);
    List<Path> pipes = new ArrayList<>();
    List<Future<Reading>> stuck = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      Path pipe = files.path(BlobFiles.Area.BLOBS, "slow" + i);
      Files.createDirectories(pipe.resolveSibling(""));
      assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
      pipes.add(pipe);
      stuck.add(blobs.read("slow" + i));
    }
    failure(StorageBusyException.class, blobs.exists("k"));
    failure(StorageBusyException.class, blobs.read("another"));
    failure(StorageBusyException.class, blobs.open("u2", NONE));
    failure(StorageBusyException.class, blobs.publish("u2", "k"));
    await(append(upload, BYTES));
    await(upload.release());

    for (int i = 0; i < 12; i++) {
      // Waits for the reader; the first calls, up to the number of threads, are the first to start.
      try (FileChannel writer = FileChannel.open(pipes.get(i), StandardOpenOption.WRITE)) {
        assertTrue(writer.isOpen());
        await(await(stuck.get(i)).close());
      }
    }
    await(blobs.publish("u", "k"));
    assertArrayEquals(BYTES, blob("k"));
    assertFalse(await(blobs.exists("u2")));
    await(await(blobs.open("u2", NONE)).release());
  }

  @Test
  void aStoreOnAFileInsteadOfAFolderDoesNotOpen() throws Exception {
    await(blobs.close());
    folder = folder.resolve("file");
    Files.createFile(folder);
    failure(IOException.class, LocalBlobs.open(vertx, folder, SMALL, clock));
  }

  @Test
  @Slow("moves four times the memory of the child process three times")
  void aBlobLargerThanTheMemoryGoesThroughAFewBlocks() throws Exception {
    await(blobs.close());
    Path printed = folder.resolveSibling("printed");
    Process child = child(List.of(), printed, "stream", "256");
    assertTrue(child.waitFor(180, TimeUnit.SECONDS));
    List<String> lines = Files.readAllLines(printed);
    assertEquals(4, lines.size(), lines::toString);
    assertEquals(Long.toString(256L << 20), lines.get(0));
    assertEquals(lines.get(1), lines.get(2));
    assertEquals(lines.get(1), lines.get(3));
  }

  private Process child(List<String> under, Path printed, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(under);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // This heap, and as much outside of it, is a few times the size of the waiting blocks.
    command.addAll(List.of("-Xmx32m", "-XX:MaxDirectMemorySize=32m", "-cp"));
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.addAll(List.of(BlobProcess.class.getName(), arguments[0], folder.toString()));
    command.addAll(List.of(arguments).subList(1, arguments.length));
    return new ProcessBuilder(command)
        .redirectOutput(printed.toFile())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** Polls the output of a child process until it has this many complete lines. */
  private static void awaitLines(Process child, Path printed, int lines) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (Files.readString(printed).chars().filter(c -> c == '\n').count() < lines) {
      assertTrue(System.nanoTime() < deadline, () -> "too few lines in " + printed);
      assertFalse(child.waitFor(5, TimeUnit.MILLISECONDS), "the child process ended by itself");
    }
  }
}
