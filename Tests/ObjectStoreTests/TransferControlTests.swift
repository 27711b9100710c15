import ObjectStore
import Testing

struct TransferControlTests {
    private let control = TransferControl(id: TransferID(rawValue: 7))

    /// Ends only when its task is cancelled.
    @Sendable private func forever() async { try? await Task.sleep(for: .seconds(3_600)) }

    @Test func whatRunsIsAnswered() async {
        #expect(await control.run { 3 } == 3)
        #expect(control.state == .running)
        #expect(control.id.rawValue == 7)
    }

    @Test func aPauseDropsTheRequestUnderWay() async {
        async let dropped: Void? = control.run { [control] in
            control.pause()
            await forever()
        }
        #expect(await dropped == nil)
        #expect(await control.run { 3 } == nil, "nothing starts while it is paused")
        control.resume()
        #expect(await control.run { 3 } == 3)
    }

    @Test func whatWasDroppedStaysUnknownAfterAQuickResume() async {
        let outcome = await control.run { [control] in
            control.pause()
            control.resume()
            return 3
        }
        #expect(outcome == nil)
    }

    @Test func whatCouldNotBeDroppedAnyMoreCounts() async {
        let outcome = await control.run(keeping: { $0 == 3 }) { [control] in
            control.cancel()
            return 3
        }
        #expect(outcome == 3)
    }

    @Test func whoWaitsGoesOnAfterTheResume() async {
        control.pause()
        async let mayGoOn = control.waitUntilRunning()
        await Task.yield()
        control.resume()
        #expect(await mayGoOn)
    }

    @Test func cancellingEndsAPauseAndIsForGood() async {
        control.pause()
        async let mayGoOn = control.waitUntilRunning()
        await Task.yield()
        control.cancel()
        #expect(await !mayGoOn)
        control.resume()
        control.pause()
        #expect(control.state == .cancelled)
    }

    @Test func aCancelledTaskDoesNotStayPaused() async {
        control.pause()
        let task = Task { await control.waitUntilRunning() }
        await Task.yield()
        task.cancel()
        #expect(await !task.value)
        #expect(control.state == .paused)
    }
}
