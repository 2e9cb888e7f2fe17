package dev.bourse.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The agent of a machine reports what the driver's programs print, and ends with the grant. */
@SuppressWarnings("NullAway.Init")
class AgentTest extends SshNodesFixture {
  private static final String WHOLE = "0, 97, 70112, 81559, 61, 642.51, 1980, 2619, 3, 0\n";

  private static final String REPORTED =
      "{\"gpus\":[{\"index\":0,\"utilization_percent\":97,\"memory_used_mib\":70112,"
          + "\"memory_total_mib\":81559,\"temperature_c\":61,\"power_w\":643,"
          + "\"sm_clock_mhz\":1980,\"memory_clock_mhz\":2619,\"ecc_corrected\":3,"
          + "\"ecc_uncorrected\":0}]}\n";

  private final List<String> posts = new CopyOnWriteArrayList<>();
  private final Queue<Integer> statuses = new ConcurrentLinkedQueue<>();
  private final List<String> polls = new CopyOnWriteArrayList<>();

  /** The polls' waits, in seconds. */
  private final List<Integer> waits = new CopyOnWriteArrayList<>();

  private final BlockingQueue<String> notices = new LinkedBlockingQueue<>();

  /** An answer that is cut off. */
  private static final String CUT = "";

  /** The query of a poll, which lasts until the next report but at most 25 s. */
  private static final Pattern POLL = Pattern.compile("wait_s=([3-9]|1[0-9]|2[0-5])(|&.*)");

  /** The answer of a service that has no such operation. */
  private static final String NONE = "404";

  /** True if the allocation is held: a report without a status of its own is accepted. */
  private volatile boolean isHeld;

  /**
   * Answers reports with the statuses in their order, then with 200 while the allocation is held
   * and 410 after its end. Answers a poll when a test adds an answer.
   */
  private void serve() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    ExecutorService threads = Executors.newCachedThreadPool();
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.createContext("/api/node/notices", this::answerPoll);
    server.start();
    opened.add(
        () -> {
          server.stop(0);
          threads.shutdownNow();
        });
    agent = new AgentAccess("http://127.0.0.1:" + server.getAddress().getPort(), "brn_a_b");
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      posts.add(
          "%s %s %s %s"
              .formatted(
                  exchange.getRequestMethod(),
                  exchange.getRequestURI(),
                  exchange.getRequestHeaders().getFirst("Authorization"),
                  new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
      Integer status = statuses.poll();
      int usual = isHeld ? 200 : 410;
      exchange.sendResponseHeaders(status == null ? usual : status, -1);
    }
  }

  private void answerPoll(HttpExchange exchange) throws IOException {
    try (exchange) {
      String query = exchange.getRequestURI().getQuery();
      Matcher poll = POLL.matcher(query);
      if (poll.matches()) {
        waits.add(Integer.valueOf(poll.group(1)));
        query = "waits" + poll.group(2);
      }
      polls.add(exchange.getRequestHeaders().getFirst("Authorization") + " " + query);
      String answer = notices.take();
      if (answer.equals(NONE)) {
        exchange.sendResponseHeaders(404, -1);
      } else if (!answer.equals(CUT)) {
        exchange.sendResponseHeaders(200, 0);
        exchange.getResponseBody().write(answer.getBytes(StandardCharsets.UTF_8));
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private LocalMachine machineWithDriver() throws Exception {
    LocalMachine machine = machine("n1");
    machine.install("nvidia-smi", "cat <<'END'\n" + WHOLE + "END");
    return machine;
  }

  private Path state(String ending) {
    return mark("n1").resolveSibling("allocation.agent-" + ending);
  }

  private boolean isRunning() throws IOException {
    long pid = Long.parseLong(Files.readString(state("pid")).split(" ", -1)[0]);
    return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
  }

  @Test
  void oneAgentReportsFromTheGrantToTheReclaim() throws Exception {
    serve();
    statuses.add(200);
    LocalMachine machine = machineWithDriver();
    Setting setting = new Setting();
    SshNodes nodes = nodes(setting);
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    eventually("a report", () -> !posts.isEmpty());
    assertEquals(List.of("POST /api/node/metrics Bearer brn_a_b " + REPORTED), posts);
    String first = Files.readString(state("pid"));

    await(nodes.examine(machine.machine(), EIGHT));
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    assertEquals(first, Files.readString(state("pid")), "it runs already");
    assertTrue(isRunning());
    long pid = Long.parseLong(first.split(" ", -1)[0]);

    // After a restart of the machine, an examination starts it again.
    ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    eventually("its end", () -> !isRunning());
    statuses.add(200);
    eventually(
        "another report",
        () -> {
          await(nodes.examine(machine.machine(), EIGHT));
          return posts.size() == 2 && isRunning();
        });
    ProcessHandle second =
        ProcessHandle.of(Long.parseLong(Files.readString(state("pid")).split(" ", -1)[0]))
            .orElseThrow();

    await(nodes.reclaim(machine.machine(), "alloc_1"));
    eventually("the end of the second", () -> !second.isAlive());
    assertFalse(Files.exists(state("access")));
    await(nodes.examine(machine.machine(), EIGHT));
    assertEquals(2, posts.size());
  }

  @Test
  void anAgentWaitsLongerWhileTheServiceIsAwayAndEndsWhenItIsRefused() throws Exception {
    serve();
    notices.addAll(List.of(NONE, NONE));
    statuses.addAll(List.of(200, 503, 503, 503, 200));
    LocalMachine machine = machineWithDriver();
    Path slept = sleepless(machine);
    await(nodes(new Setting()).provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    eventually("its end", () -> posts.size() == 15 && !Files.exists(state("pid")));
    assertFalse(Files.exists(state("access")), "the credential is of no use any more");
    List<Integer> pauses =
        Files.readAllLines(slept).stream().map(Integer::valueOf).filter(s -> s > 1).toList();
    for (int failure = 0; failure < 3; failure++) {
      int pause = 26 << failure;
      int waited = pauses.get(1 + failure);
      assertTrue(waited >= pause / 2 - 1 && waited < pause * 3 / 2, () -> pauses.toString());
    }
    assertTrue(pauses.stream().allMatch(pause -> pause < 480 * 3 / 2), () -> pauses.toString());
  }

  /** Returns the file that lists the pauses, which take no time. */
  private Path sleepless(LocalMachine machine) throws IOException {
    Path slept = root.resolve("slept");
    machine.install("sleep", "case $1 in 0.*) exec /bin/sleep $1 ;; esac; echo $1 >>" + slept);
    return slept;
  }

  private static final NodeNotice OUTBID = new NodeNotice("outbid", 1_764_378_000_000L, false);

  private static String answer(NodeNotice notice, long sequence) {
    return "{\"notice\":" + notice.toJson(sequence) + "}";
  }

  private String told() throws IOException {
    return Files.readString(run("n1").resolve("notice.json")).strip();
  }

  /** The later of the two changes nothing: the agent after a visit, or a visit after the agent. */
  @Test
  void theAgentTellsANoticeAtOnceAndKeepsTheNewestOfItsOwnAndTheVisits() throws Exception {
    serve();
    // On a busy machine the agent posts more than one report.
    isHeld = true;
    LocalMachine machine = machineWithDriver();
    sleepless(machine);
    SshNodes nodes = nodes(new Setting());
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), EIGHT));
    eventually("a poll", () -> polls.equals(List.of("Bearer brn_a_b waits")));
    notices.add(answer(OUTBID, 100));
    eventually("the next poll", () -> polls.size() == 2);
    assertEquals(OUTBID.toJson(100), told());
    String known = "Bearer brn_a_b waits&last=outbid-1764378000000:";
    assertEquals(known + "given:100", polls.get(1));

    assertEquals(
        100L, await(nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID.withdrawn(), 99)));
    assertEquals(99L, await(nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID, 99)));
    assertEquals(OUTBID.toJson(100), told());
    assertEquals(
        101L, await(nodes.deliverNotice(machine.machine(), "alloc_1", OUTBID.withdrawn(), 101)));
    assertEquals(OUTBID.withdrawn().toJson(101), told());

    notices.add(answer(OUTBID, 100));
    eventually("the next poll", () -> polls.size() == 3);
    assertEquals(known + "withdrawn:101", polls.get(2));
    assertEquals(OUTBID.withdrawn().toJson(101), told());

    // A service that stops answers at once, and its connections are cut.
    notices.addAll(List.of("{\"notice\":null}", CUT, answer(OUTBID, 102)));
    eventually("the next poll", () -> polls.size() == 6);
    assertEquals(OUTBID.toJson(102), told());
    isHeld = false;
    notices.add(NONE);
    eventually("its end", () -> !Files.exists(state("pid")));
    assertEquals(6, polls.size(), "polls end with the reports");
    assertTrue(waits.stream().anyMatch(each -> each >= 10), () -> "no long poll: " + waits);
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    assertFalse(Files.exists(run("n1")));
  }

  private static String parsed(String function, String printed) throws Exception {
    String text = Files.readString(Path.of("src/main/resources/nodes/agent.sh"));
    Process shell =
        new ProcessBuilder("/bin/sh", "-c", "set -eu; eval \"$1\"; " + function, "sh", text)
            .redirectErrorStream(true)
            .start();
    try (var out = shell.getOutputStream()) {
      out.write(printed.getBytes(StandardCharsets.UTF_8));
    }
    String answer =
        new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertEquals(0, shell.waitFor(), answer);
    return answer;
  }

  @Test
  void whatBrokenMachinesPrintIsUnknown() throws Exception {
    assertEquals(REPORTED.strip(), parsed("nvidia_report", WHOLE));
    assertEquals(
        "{\"gpus\":[{\"index\":1,\"memory_used_mib\":4},{\"index\":3,\"ecc_corrected\":5}]}",
        parsed(
            "nvidia_report",
            """
            1, [N/A], 4, [Not Supported], ERR!, [Unknown Error], N/A, [GPU is lost], , [N/A]
            Unable to determine the device handle for GPU0000:41:00.0: Unknown Error
            3, 101, -1, 1e308, 200, 99999, nan, inf, 5, 99999999999999999999
            3, 1, 1, 1, 1, 1, 1, 1, 1, 1
            64, 1, 1, 1, 1, 1, 1, 1, 1, 1
            4, 1
            """));
    for (String nothing :
        List.of("", "No devices were found\n", "NVIDIA-SMI has failed because it couldn't\n")) {
      assertEquals("{\"gpus\":[]}", parsed("nvidia_report", nothing));
      assertEquals("{\"gpus\":[]}", parsed("amd_report", nothing));
    }
  }

  @Test
  void amdSmisJsonIsReadInEachOfItsForms() throws Exception {
    String list =
        """
        [
            {
                "gpu": 0,
                "usage": {
                    "gfx_activity": {
                        "value": 42,
                        "unit": "%"
                    },
                    "vcn_activity": [ { "value": 7, "unit": "%" }, "N/A" ]
                },
                "power": { "socket_power": { "value": 140, "unit": "W" }, "throttle_status": "N/A" },
                "clock": {
                    "gfx_0": {
                        "clk": { "value": 2100, "unit": "MHz" },
                        "min_clk": { "value": 500, "unit": "MHz" }
                    },
                    "gfx_1": { "clk": "N/A" },
                    "mem_0": { "clk": { "value": 900, "unit": "MHz" } }
                },
                "temperature": {
                    "edge": "N/A",
                    "hotspot": { "value": -4, "unit": "C" },
                    "mem": { "value": 33, "unit": "C" }
                },
                "ecc": { "total_correctable_count": 3, "total_uncorrectable_count": 0 },
                "mem_usage": {
                    "total_vram": { "value": 196592, "unit": "MB" },
                    "used_vram": { "value": 283, "unit": "MB" }
                }
            },
            {
                "gpu": 1,
                "usage": "N/A",
                "power": { "socket_power": "N/A" },
                "clock": { "gfx_0": { "clk": "N/A" } },
                "ecc": { "total_correctable_count": "N/A" }
            }
        ]
        """;
    String read =
        "{\"gpus\":[{\"index\":0,\"utilization_percent\":42,\"memory_used_mib\":283,"
            + "\"memory_total_mib\":196592,\"temperature_c\":-4,\"power_w\":140,"
            + "\"sm_clock_mhz\":2100,\"memory_clock_mhz\":900,\"ecc_corrected\":3,"
            + "\"ecc_uncorrected\":0},{\"index\":1}]}";
    assertEquals(read, parsed("amd_report", list));
    assertEquals(read, parsed("amd_report", "{\"gpu_data\": " + list + "}"));
    assertEquals(read, parsed("amd_report", list.replaceAll("\\s+", "")));
  }
}
