package dev.bourse.client.ssh;

import dev.bourse.client.account.MemberCommandContext;
import dev.bourse.client.account.SignedInCommand;
import dev.bourse.client.transfer.CommandEnvironment;
import dev.bourse.remote.ExitCode;
import dev.bourse.remote.IoWords;
import dev.bourse.remote.RefusedException;
import dev.bourse.remote.Service;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bourse keys add}. */
@Command(
    name = "add",
    description = {
      "Registers a public key: its private key gives access to nodes granted from now on.",
      "",
      "A key that is registered already is shown; nothing changes."
    },
    mixinStandardHelpOptions = true)
final class AddKeyCommand extends SignedInCommand {
  /** The files that ssh itself uses. */
  private static final List<String> USUAL =
      List.of("id_ed25519.pub", "id_ecdsa.pub", "id_rsa.pub", "id_ed25519_sk.pub");

  /** More than any public key, and small enough to read a file named by mistake. */
  private static final int MOST_BYTES = 16_384;

  @Parameters(
      arity = "0..1",
      paramLabel = "FILE",
      description = "The public key. Default: the first of id_ed25519.pub, … in ~/.ssh.")
  private @Nullable Path file;

  @Option(
      names = "--name",
      paramLabel = "TEXT",
      description = "What people call it. Default: the comment in it, or the file's name.")
  private @Nullable String name;

  @Option(
      names = {"-c", "--cluster"},
      paramLabel = "NAME",
      description = "Only for nodes of this cluster. Default: for those of all.")
  private @Nullable String cluster;

  @Mixin
  private final MemberCommandContext.FormatOptions format =
      new MemberCommandContext.FormatOptions();

  AddKeyCommand(CommandEnvironment environment) {
    super(environment);
  }

  @Override
  protected void run() throws RefusedException {
    Path chosen = file == null ? usual() : file;
    String line = read(chosen);
    Service service = signedIn();
    String org = service.call("GET", "/api/whoami", null).getString("org_id");
    JsonObject key =
        new JsonObject()
            .put("name", name == null ? named(line, chosen) : name)
            .put("public_key", line);
    if (cluster != null) {
      key.put("cluster", cluster);
    }
    String path = "/api/vm/orgs/%s/ssh-keys".formatted(Service.encoded(org));
    out().print(format.get().print(service.call("POST", path, key)));
  }

  private Path usual() throws RefusedException {
    for (String candidate : USUAL) {
      Path path = environment().home().resolve(".ssh").resolve(candidate);
      if (Files.isReadable(path)) {
        return path;
      }
    }
    throw new RefusedException(
        ExitCode.USAGE,
        "there is no public key in ~/.ssh; name a file, or make one: ssh-keygen -t ed25519");
  }

  private static String read(Path file) throws RefusedException {
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw new RefusedException(ExitCode.USAGE, file + " is too long for a public key");
      }
      String text = Files.readString(file).strip();
      if (text.startsWith("-----BEGIN")) {
        throw new RefusedException(
            ExitCode.USAGE,
            "%s is a private key; keep it secret; the public key is %s.pub".formatted(file, file));
      }
      return text;
    } catch (IOException e) {
      throw new RefusedException(ExitCode.USAGE, "cannot read " + file + ": " + IoWords.of(e));
    }
  }

  private static String named(String line, Path file) {
    String[] words = line.split("\\s+", 3);
    return words.length == 3 ? words[2] : String.valueOf(file.getFileName());
  }
}
