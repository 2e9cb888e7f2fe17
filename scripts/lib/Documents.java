import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs the commands of a Markdown document as they are written, and compares what they print with
 * the output the document shows: {@code java Documents.java [--show] FILE}, in the folder in which
 * a reader would run them. scripts/README.md tells how documents are written for this.
 *
 * <p>Each {@code sh} block goes to the one bash of the document, and a block of another kind that
 * follows it is its output; where none is shown, no refusal may be printed. The info string says what differs: {@code sh serve} starts something
 * that prints {@code ready} and runs until the document ends, {@code by-hand} is left to the
 * reader, {@code json mcp} to {@code scripts/clients/mcp-skill.mjs}.
 */
final class Documents {
  /** What differs between any two runs, and what stands for it while outputs are compared. */
  private static final List<Map.Entry<Pattern, String>> VARIABLE =
      List.of(
          Map.entry(
              Pattern.compile("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z"), "(time)"),
          Map.entry(Pattern.compile("ssh-ed25519 [A-Za-z0-9+/=]+"), "(public key)"),
          Map.entry(Pattern.compile("SHA256:[A-Za-z0-9+/=]+"), "(fingerprint)"),
          Map.entry(Pattern.compile("\\b[0-9a-f]{64}\\b"), "(digest)"),
          Map.entry(Pattern.compile("\\bbrs_[A-Za-z0-9]{12}_[A-Za-z0-9]+"), "(token)"),
          Map.entry(
              // A random id may lack capitals and digits, so known prefixes match without them.
              Pattern.compile(
                  "\\b(?:(?:alc|arb|arj|ckp|grt|jr|key|rev|tst|whe)_[A-Za-z0-9]{12}"
                      + "|[a-z]{2,4}_(?=[A-Za-z0-9]*[A-Z0-9])[A-Za-z0-9]{12})\\b"),
              "(id)"),
          Map.entry(Pattern.compile("token:[A-Za-z0-9]{12}\\b"), "token:(id)"),
          Map.entry(Pattern.compile("(token_id\\W+)[A-Za-z0-9]{12}\\b"), "$1(id)"));

  private static final String DONE = "-- block done --";

  /** The longest that a block may run, because a block that waits for a state could wait for ever. */
  private static final long BLOCK_MILLIS = 900_000;

  private record Block(String info, String text, int line) {
    boolean is(String word) {
      return List.of(info.split(" ")).contains(word);
    }

    boolean isShell() {
      return is("sh");
    }

    boolean isByHand() {
      return is("by-hand");
    }
  }

  private final Path file;
  private final boolean show;
  private final List<Process> served = new ArrayList<>();
  private Process bash;
  private BufferedReader answers;

  private Documents(Path file, boolean show) {
    this.file = file;
    this.show = show;
  }

  public static void main(String[] arguments) throws Exception {
    boolean show = arguments[0].equals("--show");
    Documents document = new Documents(Path.of(arguments[show ? 1 : 0]), show);
    System.exit(document.run() ? 0 : 1);
  }

  private boolean run() throws Exception {
    List<Block> blocks =
        blocks(Files.readAllLines(file)).stream().filter(block -> !block.is("mcp")).toList();
    bash = new ProcessBuilder("bash", "-e").redirectErrorStream(true).start();
    answers = reader(bash);
    int ran = 0;
    int compared = 0;
    int different = 0;
    int left = 0;
    try {
      for (int i = 0; i < blocks.size(); i++) {
        Block block = blocks.get(i);
        if (!block.isShell()) {
          continue;
        }
        if (block.isByHand()) {
          left++;
          continue;
        }
        ran++;
        String output = block.is("serve") ? serve(block) : execute(block);
        if (output == null) {
          return false;
        }
        Block next = i + 1 < blocks.size() ? blocks.get(i + 1) : block;
        if (!next.isShell() && !next.isByHand()) {
          compared++;
          different += same(next, output) ? 0 : 1;
        } else if (output.contains("{\"error\":")) {
          different++;
          System.out.printf("%s:%d: the service refused%n%s", file, block.line(), output);
        }
      }
    } finally {
      bash.destroy();
      for (Process process : served) {
        process.destroy();
        process.waitFor(20, TimeUnit.SECONDS);
      }
    }
    System.out.printf(
        "%s: %d blocks run, %d outputs compared, %d left to the reader%n",
        file, ran, compared, left);
    return different == 0;
  }

  private static List<Block> blocks(List<String> lines) {
    List<Block> blocks = new ArrayList<>();
    StringBuilder text = null;
    String info = "";
    int begin = 0;
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (!line.startsWith("```")) {
        if (text != null) {
          text.append(line).append('\n');
        }
      } else if (text == null) {
        text = new StringBuilder();
        info = line.substring(3).strip();
        begin = i + 1;
      } else {
        blocks.add(new Block(info, text.toString(), begin));
        text = null;
      }
    }
    return blocks;
  }

  /** What a block prints; null when it failed, which is told. */
  private String execute(Block block) throws IOException {
    Path script = Files.createTempFile("block", ".sh");
    Files.writeString(script, block.text());
    OutputStream commands = bash.getOutputStream();
    commands.write(
        ("source " + script + " </dev/null\necho; echo '" + DONE + "'\n")
            .getBytes(StandardCharsets.UTF_8));
    try {
      commands.flush();
    } catch (IOException ended) {
      // The reads below tell.
    }
    StringBuilder output = new StringBuilder();
    Timer limit = new Timer(true);
    limit.schedule(
        new TimerTask() {
          @Override
          public void run() {
            System.out.printf("%s:%d: the block did not end in time%n", file, block.line());
            bash.descendants().forEach(ProcessHandle::destroyForcibly);
            bash.destroyForcibly();
          }
        },
        BLOCK_MILLIS);
    String line = answers.readLine();
    while (line != null && !line.equals(DONE)) {
      output.append(line).append('\n');
      line = answers.readLine();
    }
    limit.cancel();
    Files.delete(script);
    if (show) {
      System.out.printf("%s:%d%n%s----%n%s%n", file, block.line(), block.text(), output);
    }
    if (line != null) {
      return output.toString();
    }
    System.out.printf(
        "%s:%d: a command failed%n%s---- printed ----%n%s",
        file, block.line(), block.text(), output);
    return null;
  }

  /** The line that says a block is ready; the block goes on until the document ends. */
  private String serve(Block block) throws IOException {
    Process process =
        new ProcessBuilder("bash", "-c", "exec " + block.text().strip())
            .redirectErrorStream(true)
            .start();
    served.add(process);
    BufferedReader said = reader(process);
    StringBuilder output = new StringBuilder();
    String line;
    while ((line = said.readLine()) != null) {
      output.append(line).append('\n');
      if (line.startsWith("ready ")) {
        Thread drain = new Thread(() -> drain(said));
        drain.setDaemon(true);
        drain.start();
        return line;
      }
    }
    System.out.printf("%s:%d: it ended and was not ready%n%s", file, block.line(), output);
    return null;
  }

  private static void drain(BufferedReader said) {
    try {
      said.lines().forEach(later -> {});
    } catch (UncheckedIOException ended) {
      // Whoever ends the process closes what it says.
    }
  }

  private boolean same(Block shown, String output) {
    String expected = stable(shown.text());
    String actual = stable(output);
    String[] pieces = expected.split("…", -1);
    StringBuilder pattern = new StringBuilder();
    for (int i = 0; i < pieces.length; i++) {
      pattern.append(i == 0 ? "" : ".*").append(Pattern.quote(pieces[i]));
    }
    if (Pattern.compile(pattern.toString(), Pattern.DOTALL).matcher(actual).matches()) {
      return true;
    }
    System.out.printf(
        "%s:%d: the output shown is not what is printed%n"
            + "---- shown ----%n%s---- printed ----%n%s---- compared ----%n%s%n%s%n",
        file, shown.line(), shown.text(), output, expected, actual);
    return false;
  }

  private static String stable(String text) {
    String stable = text;
    for (Map.Entry<Pattern, String> each : VARIABLE) {
      Matcher matcher = each.getKey().matcher(stable);
      stable = matcher.replaceAll(each.getValue());
    }
    return stable.replaceAll("\\s+", "");
  }

  private static BufferedReader reader(Process process) {
    return new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }
}
