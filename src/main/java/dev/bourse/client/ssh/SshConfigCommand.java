package dev.bourse.client.ssh;

import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code bourse ssh-config}. */
@Command(
    name = "ssh-config",
    description = {
      "Writes a configuration from which ssh, scp, rsync and editors know the nodes by name.",
      "",
      """
      It holds the nodes as they are now, with their host keys, so that no question is asked. \
      bourse ssh, run and cp update it as well.\
      """
    },
    mixinStandardHelpOptions = true)
final class SshConfigCommand extends NodeCommand {
  @Option(
      names = "--install",
      description = "Include it in ~/.ssh/config, before everything else there.")
  private boolean isInstalled;

  SshConfigCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    Reach reach = reach();
    String include = "Include \"" + files().config() + '"';
    if (isInstalled) {
      install(include);
    }
    reach.hosts().keySet().stream().sorted().forEach(out()::println);
    out().flush();
    if (!isInstalled) {
      err().printf("To use the names, put this first in ~/.ssh/config, or give --install:%n%n");
      err().println(include);
    }
  }

  private void install(String include) throws RefusedException {
    Path config = environment().home().resolve(".ssh/config");
    try {
      String before = Files.exists(config) ? Files.readString(config) : "";
      if (before.lines().anyMatch(include::equals)) {
        return;
      }
      Files.createDirectories(config.getParent());
      // Replaced atomically, so that a full disk cannot destroy the configuration.
      Path next =
          Files.createTempFile(
              config.getParent(),
              "config",
              ".bourse",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
      Files.writeString(next, include + "\n\n" + before);
      Files.move(
          next,
          Files.isSymbolicLink(config) ? config.toRealPath() : config,
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new RefusedException(ExitCode.USAGE, "cannot write " + config + ": " + IoWords.of(e));
    }
    err().println("included in " + config);
  }
}
