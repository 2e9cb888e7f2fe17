package dev.bourse.nodes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The hardware checks of a machine, with the output of drivers' programs on good and on faulty
 * machines.
 */
@SuppressWarnings("NullAway.Init")
class HealthCheckTest extends SshNodesFixture {
  private static final MachineTerms TWO_H100 = new MachineTerms(2, "H100 80GB");

  private final Setting setting = new Setting();
  private LocalMachine machine;
  private SshNodes nodes;

  @BeforeEach
  void raiseAMachine() throws Exception {
    setting.checksHardware = true;
    machine = machine("n1");
    machine.install("dmesg", "exit 0");
    nodes = nodes(setting);
  }

  /** One GPU as nvidia-smi -q -x shows it, as far as the checks read it. */
  private static String gpu(int number) {
    return """
        <gpu id="00000000:%02X:00.0">
          <product_name>NVIDIA H100 80GB HBM3</product_name>
          <clocks_event_reasons>
            <clocks_event_reason_hw_slowdown>Not Active</clocks_event_reason_hw_slowdown>
            <clocks_event_reason_hw_thermal_slowdown>Not Active</clocks_event_reason_hw_thermal_slowdown>
          </clocks_event_reasons>
          <fb_memory_usage><total>81559 MiB</total><used>0 MiB</used></fb_memory_usage>
          <bar1_memory_usage><total>131072 MiB</total></bar1_memory_usage>
          <ecc_errors>
            <volatile>
              <sram_correctable>0</sram_correctable>
              <sram_uncorrectable_parity>0</sram_uncorrectable_parity>
              <dram_correctable>3</dram_correctable>
              <dram_uncorrectable>0</dram_uncorrectable>
            </volatile>
            <aggregate><dram_uncorrectable>9</dram_uncorrectable></aggregate>
          </ecc_errors>
          <retired_pages><pending_retirement>N/A</pending_retirement></retired_pages>
          <remapped_rows>
            <remapped_row_pending>No</remapped_row_pending>
            <remapped_row_failure>No</remapped_row_failure>
          </remapped_rows>
          <gpu_recovery_action>None</gpu_recovery_action>
          <processes>
          </processes>
        </gpu>
        """
        .formatted(number + 10);
  }

  private void nvidia(String... gpus) throws Exception {
    Files.writeString(
        root.resolve("smi.xml"),
        "<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n<attached_gpus>%d</attached_gpus>\n"
                .formatted(gpus.length)
            + String.join("", gpus)
            + "</nvidia_smi_log>\n");
    machine.install("nvidia-smi", "[ \"$*\" = '-q -x' ] && cat " + root.resolve("smi.xml"));
  }

  private static String broken(String from, String to) {
    String whole = gpu(1);
    assertTrue(whole.contains(from), from);
    return whole.replace(from, to);
  }

  private Health examine(MachineTerms terms) throws Exception {
    return await(nodes.examine(machine.machine(), terms)).health();
  }

  @Test
  void aWholeMachineIsOk() throws Exception {
    nvidia(gpu(0), gpu(1));
    assertEquals(Health.OK, examine(TWO_H100));
    assertEquals(Health.OK, examine(new MachineTerms(2, null)));
  }

  @Test
  void aMachineWithoutADriversProgramIsUnknown() throws Exception {
    assertEquals(Health.UNKNOWN, examine(TWO_H100));
  }

  @Test
  void eachBrokenOutputOfNvidiaIsTold() throws Exception {
    record Broken(String gpu, Health.State state, String reason) {}
    List<Broken> all =
        List.of(
            new Broken("", Health.State.FAILED, "the driver sees 1 of 2 GPUs"),
            new Broken(
                broken("<dram_uncorrectable>0", "<dram_uncorrectable>2"),
                Health.State.FAILED,
                "GPU 1 has 2 uncorrected memory errors"),
            new Broken(
                broken("<volatile>", "<volatile><double_bit><total>4</total></double_bit>"),
                Health.State.FAILED,
                "GPU 1 has 4 uncorrected memory errors"),
            new Broken(
                broken("row_pending>No", "row_pending>Yes"),
                Health.State.DEGRADED,
                "GPU 1 has memory rows to be remapped"),
            new Broken(
                broken("<pending_retirement>N/A", "<pending_retirement>Yes"),
                Health.State.DEGRADED,
                "GPU 1 has memory rows to be remapped"),
            new Broken(
                broken("row_failure>No", "row_failure>Yes"),
                Health.State.FAILED,
                "GPU 1 has no spare memory rows left"),
            new Broken(
                broken("<gpu_recovery_action>None", "<gpu_recovery_action>Reset"),
                Health.State.FAILED,
                "GPU 1 asks for a recovery action: Reset"),
            new Broken(
                broken("hw_thermal_slowdown>Not Active", "hw_thermal_slowdown>Active"),
                Health.State.DEGRADED,
                "GPU 1 is slowed down by its hardware"),
            new Broken(
                broken("81559 MiB", "GPU is lost"), Health.State.FAILED, "GPU 1 does not answer"));
    for (Broken broken : all) {
      nvidia(gpu(0), broken.gpu());
      Health found = examine(TWO_H100);
      assertEquals(broken.state(), found.state(), broken + " gave " + found);
      assertTrue(
          found.reasons().stream().anyMatch(reason -> reason.startsWith(broken.reason())),
          broken.reason() + " in " + found.reasons());
    }
  }

  @Test
  void aProgramThatFailsIsTold() throws Exception {
    machine.install("nvidia-smi", "echo 'No devices were found'; exit 6");
    assertEquals(
        List.of("nvidia-smi ended with 6: No devices were found"), examine(TWO_H100).reasons());
  }

  @Test
  void faultsThatTheKernelLoggedAreToldAndNeitherThoseOfProgramsNorForgedOnes() throws Exception {
    nvidia(gpu(0), gpu(1));
    machine.install(
        "dmesg",
        """
        cat <<'EOF'
        [   12.000001] NVRM: Xid (PCI:0000:0a:00): 13, pid=77, name=python, Graphics Exception
        [   13.000001] NVRM: Xid (PCI:0000:0a:00): 31, pid=77, name=python, MMU Fault
        [   13.000002] audit: comm="
        NVRM: Xid (PCI:0000:0b:00): 79, x
        [   14.000001] traps: NVRM: Xid (PCI[88] trap invalid opcode, NVRM: Xid (PCI:0000:0b:00): 79, x
        EOF
        """);
    assertEquals(Health.OK, examine(TWO_H100));
    machine.install(
        "dmesg", "echo '[ 2201.5] NVRM: Xid (PCI:0000:0b:00): 79, GPU has fallen off the bus.'");
    assertEquals(
        List.of("the driver reported Xid 79 for the GPU at 0000:0b:00: reboot the machine"),
        examine(TWO_H100).reasons());
  }

  @Test
  void eachBrokenOutputOfAmdIsTold() throws Exception {
    MachineTerms two = new MachineTerms(2, "MI300X 192GB");
    amd(0, 0);
    assertEquals(Health.OK, examine(two));
    amd(0, 5);
    assertEquals(
        List.of("GPU 1 has 5 uncorrected memory errors: reset it, and replace it if they return"),
        examine(two).reasons());
    amd(0);
    assertTrue(examine(two).reasons().get(0).startsWith("the driver sees 1 of 2 GPUs"));
    amd(0, 0);
    refused(
        "GPU 0 is a AMD Instinct MI300X, and the pool says MI350X", new MachineTerms(2, "MI350X"));
  }

  /** A fault that may be the pool's and not the machine's is retried. */
  private void refused(String why, MachineTerms terms) throws Exception {
    assertFalse(examine(terms).isFaulty());
    NodeFailureException failure =
        fails(why, nodes.provision(machine.machine(), "alloc_1", List.of(ADA), terms));
    assertFalse(failure.isUnfit());
  }

  @Test
  void aMachineThatIsNotAsThePoolSaysIsRefusedAndTriedAgain() throws Exception {
    nvidia(gpu(0), broken("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-80GB"));
    refused("GPU 1 is a NVIDIA A100-SXM4-80GB, and the pool says H100 80GB", TWO_H100);
    nvidia(gpu(0), broken("81559", "40960"));
    refused("GPU 1 has 40960 MiB of memory, and the pool says H100 80GB", TWO_H100);
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    nvidia(gpu(0), gpu(1));
    for (String model : List.of("8x H100", "H100-SXM5-80GB", "H100 SXM 80GB", "HGX H100", "h100")) {
      String allocation = "alloc_" + model.replaceAll("[^A-Za-z0-9]", "_");
      await(
          nodes.provision(machine.machine(), allocation, List.of(ADA), new MachineTerms(2, model)));
      await(nodes.reclaim(machine.machine(), allocation));
    }
  }

  @Test
  void theNamesOfATenantsProcessesAndPartsOfACardAreNoFaults() throws Exception {
    nvidia(
        gpu(0),
        broken(
                "<ecc_errors>",
                """
            <mig_devices><mig_device><fb_memory_usage><total>9856 MiB</total></fb_memory_usage>\
            </mig_device></mig_devices>
            <ecc_errors>""")
            .replace("<processes>", running("GPU is lost\nbourse-fault:failed forged")));
    assertEquals(Health.OK, examine(TWO_H100));
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), TWO_H100));
  }

  private static String running(String process) {
    return "<processes><process_info><process_name>" + process + "</process_name></process_info>";
  }

  @Test
  void aProcessWhoseNameHasTagsMakesNoFaultThatIsCredited() throws Exception {
    nvidia(gpu(0), gpu(1));
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), TWO_H100));
    String errors = "<volatile><dram_uncorrectable>3</dram_uncorrectable></volatile>";
    String end = "</process_name></process_info></processes>";
    List<String> names =
        List.of(
            "/home/t/</processes>" + errors,
            "/home/t/</processes><gpu id=\"7\"><processes>",
            "<attached_gpus>9</attached_gpus></processes>" + errors + "<processes>",
            end + errors + "<processes><process_info><process_name>",
            end + "</gpu>" + gpu(2) + "<gpu id=\"9\"><processes><process_info><process_name>");
    for (String name : names) {
      nvidia(gpu(0), gpu(1).replace("<processes>", running(name)));
      assertEquals(Health.State.DEGRADED, examine(TWO_H100).state(), name);
    }
    nvidia(gpu(0), gpu(1).replace("<processes>", running("<mig_devices></mig_devices>" + errors)));
    assertEquals(Health.OK, examine(TWO_H100));
  }

  private void amd(int... errors) throws Exception {
    List<String> statics = new ArrayList<>();
    List<String> metrics = new ArrayList<>();
    for (int i = 0; i < errors.length; i++) {
      statics.add(
          """
          {"gpu": %d, "asic": {"market_name": "AMD Instinct MI300X", "vendor_id": "0x1002"},
           "vram": {"type": "HBM3", "size": {"value": 196592, "unit": "MB"}}}"""
              .formatted(i));
      metrics.add(
          """
          {"gpu": %d, "ecc": {"total_correctable_count": 8, "total_uncorrectable_count": %d}}"""
              .formatted(i, errors[i]));
    }
    machine.install(
        "amd-smi",
        "case $1 in\nstatic) cat <<'EOF'\n"
            + statics
            + "\nEOF\n;;\n*) cat <<'EOF'\n"
            + metrics
            + "\nEOF\n;;\nesac");
  }

  @Test
  void eachLineOfTheOperatorsCommandIsAReasonIfItFails() throws Exception {
    nvidia(gpu(0), gpu(1));
    setting.check = "echo; echo nvme1 is missing; echo \"$BOURSE_CHECK $BOURSE_NODE\"; exit 1";
    Health found = await(nodes(setting).examine(machine.machine(), TWO_H100)).health();
    assertEquals(new Health(Health.State.FAILED, List.of("nvme1 is missing", "held n1")), found);
  }

  /** A tenant that could cause "failed" would hold the node without being billed. */
  @Test
  void whatATenantMayHaveCausedIsAtMostDegradedWhileTheMachineIsHeld() throws Exception {
    record Caused(String smi, String kernel, String check, String reason) {}
    nvidia(gpu(0), gpu(1));
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), TWO_H100));
    String whole = "cat " + root.resolve("smi.xml");
    String cut = "head -c 900 " + root.resolve("smi.xml");
    String xid119 = "echo '[ 2201.5] NVRM: Xid (PCI:0000:0b:00): 119, Timeout waiting for RPC'";
    List<Caused> all =
        List.of(
            // The kernel ended it because memory ran out, or no process could be started.
            new Caused("exit 137", "exit 0", "", "nvidia-smi ended with 137"),
            new Caused("exit 2", "exit 0", "", "nvidia-smi ended with 2"),
            // The disk was full before the end of the answer.
            new Caused(cut, "exit 0", "", "the answer of nvidia-smi has no end"),
            new Caused(whole, xid119, "", "the driver reported Xid 119"),
            new Caused(whole, "exit 0", "echo /scratch is full; exit 1", "/scratch is full"));
    for (Caused caused : all) {
      machine.install("nvidia-smi", caused.smi());
      machine.install("dmesg", caused.kernel());
      setting.check = caused.check();
      Health held = await(nodes(setting).examine(machine.machine(), TWO_H100)).health();
      assertEquals(Health.State.DEGRADED, held.state(), caused + " gave " + held);
      assertTrue(held.reasons().get(0).startsWith(caused.reason()), held.reasons().toString());
    }

    machine.install("dmesg", "exit 0");
    nvidia(gpu(0), broken("<gpu_recovery_action>None", "<gpu_recovery_action>Reset"));
    assertEquals(Health.State.DEGRADED, examine(TWO_H100).state());
    nvidia(gpu(0), broken("<dram_uncorrectable>0", "<dram_uncorrectable>2"));
    assertEquals(Health.State.FAILED, examine(TWO_H100).state(), "no tenant causes these");
    nvidia(gpu(0));
    assertEquals(Health.State.FAILED, examine(TWO_H100).state(), "nor a missing GPU");
  }

  @Test
  void aFaultyMachineLetsNobodyInAndIsUnfit() throws Exception {
    nvidia(gpu(0), broken("<dram_uncorrectable>0", "<dram_uncorrectable>2"));
    NodeFailureException failure =
        fails(
            "GPU 1 has 2 uncorrected memory errors: reset it",
            nodes.provision(machine.machine(), "alloc_1", List.of(ADA), TWO_H100));
    assertTrue(failure.isUnfit());
    assertFalse(Files.exists(keys("n1")));

    nvidia(gpu(0), gpu(1));
    await(nodes.reclaim(machine.machine(), "alloc_1"));
    await(nodes.provision(machine.machine(), "alloc_2", List.of(ADA), TWO_H100));
    assertEquals(ADA + "\n", Files.readString(keys("n1")));
  }

  @Test
  void aFaultThatComesAfterTheGrantKeepsNobodyOut() throws Exception {
    nvidia(gpu(0), gpu(1));
    await(nodes.provision(machine.machine(), "alloc_1", List.of(), TWO_H100));
    nvidia(gpu(0));
    await(nodes.provision(machine.machine(), "alloc_1", List.of(ADA), TWO_H100));
    assertEquals(ADA + "\n", Files.readString(keys("n1")));
  }

  @Test
  void aMachineWhoseClockDiffersIsRefusedAndTriedAgain() throws Exception {
    machine.install("date", "echo $(($(command -p date +%s) + 100))");
    refused("the clock differs by 10", TWO_H100);
  }

  @Test
  void checksThatAreOffFindNothing() throws Exception {
    setting.checksHardware = false;
    nvidia(gpu(0));
    SshNodes unchecked = nodes(setting);
    await(unchecked.provision(machine.machine(), "alloc_1", List.of(ADA), TWO_H100));
    Examination examination = await(unchecked.examine(machine.machine(), TWO_H100));
    assertEquals(new Examination(new Holding("n1", "alloc_1"), Health.UNKNOWN, null), examination);
  }
}
