package dev.bourse.app.commands;

import dev.bourse.app.Config;
import dev.bourse.store.transfer.ExportWriter;
import dev.bourse.store.transfer.TableSum;
import dev.bourse.store.transfer.WholeStore;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.zip.GZIPOutputStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code bourse export}. */
@Command(
    name = "export",
    description = {
      """
      Writes all rows of the store to one file, from which import fills another store, of \
      any engine. The embedded store must not be in use; a PostgreSQL database may be, and \
      is read as it is at one moment. Keep the file as you keep the store: it holds the \
      digests of tokens, and members' addresses. Encrypted values stay encrypted: an import \
      needs the secret key, which is not in the file.\
      """,
      "",
      """
      The file has rows only. It does not have the bytes of published files, which stay in the \
      folder checkpoints of the data folder or in the object store, nor the other files of the \
      data folder: signing keys, tokens created at a start, and mails.\
      """
    },
    exitCodeListHeading = "Exit codes:%n",
    exitCodeList = {"0:the file holds all rows", "2:nothing was exported; standard error says why"},
    mixinStandardHelpOptions = true)
final class ExportCommand implements Callable<Integer> {
  private static final int BUFFER_BYTES = 1 << 16;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private SettingsOptions settings = new SettingsOptions();

  @Parameters(
      paramLabel = "FILE",
      description = "Compressed when the name ends in .gz; - is standard output.")
  private String file = "";

  @Override
  public Integer call() throws IOException, Config.InvalidConfigException {
    boolean isStandardOutput = file.equals("-");
    try (WholeStore store = settings.openStore(WholeStore.Purpose.READ)) {
      List<TableSum> sums =
          isStandardOutput
              ? write(store, new FileOutputStream(FileDescriptor.out))
              : write(store, Path.of(file));
      new SumTable(isStandardOutput ? spec.commandLine().getErr() : spec.commandLine().getOut())
          .print(sums);
      StoredFiles.of(store)
          .locations(isStandardOutput ? "the export" : file)
          .forEach(line -> spec.commandLine().getErr().println("bourse export: " + line));
    }
    return 0;
  }

  /** Writes to a target that is not a regular file, such as a pipe, directly. */
  private List<TableSum> write(WholeStore store, Path target) throws IOException {
    if (Files.exists(target) && !Files.isRegularFile(target)) {
      try (OutputStream out = Files.newOutputStream(target)) {
        return write(store, out);
      }
    }
    // Written under another name until it is complete, so that FILE never is a partial export.
    Path part = target.resolveSibling(target.getFileName() + ".part");
    Files.deleteIfExists(part);
    try (FileChannel channel =
        FileChannel.open(
            part,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            readableByOwner(part))) {
      part.toFile().deleteOnExit();
      List<TableSum> sums = write(store, Channels.newOutputStream(channel));
      channel.force(true);
      Files.move(part, target, StandardCopyOption.REPLACE_EXISTING);
      return sums;
    } finally {
      Files.deleteIfExists(part);
    }
  }

  private static FileAttribute<?>[] readableByOwner(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
        }
        : new FileAttribute<?>[0];
  }

  private List<TableSum> write(WholeStore store, OutputStream raw) throws IOException {
    ProgressLines progress = new ProgressLines(spec.commandLine().getErr(), "exporting");
    try {
      GZIPOutputStream compressed =
          file.endsWith(".gz") ? new GZIPOutputStream(raw, BUFFER_BYTES) : null;
      OutputStream out =
          new BufferedOutputStream(compressed == null ? raw : compressed, BUFFER_BYTES);
      List<TableSum> sums = ExportWriter.write(store, out, Clock.systemUTC(), progress);
      if (compressed != null) {
        compressed.finish();
      }
      return sums;
    } catch (IOException e) {
      throw new IOException(file + " cannot be written: " + e.getMessage(), e);
    }
  }
}
