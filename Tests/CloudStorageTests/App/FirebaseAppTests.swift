import Foundation
import TestSupport
import Testing

@testable import CloudStorage

struct FirebaseAppTests {
    @Test func anAppKeepsACopyOfItsOptions() {
        let options = FirebaseOptions(googleAppID: "id", gcmSenderID: "sender")
        options.storageBucket = "b"
        let name = UUID().uuidString
        FirebaseApp.configure(name: name, options: options)
        options.storageBucket = "changed"
        let app = FirebaseApp.app(name: name)
        #expect(app?.options.storageBucket == "b")
        #expect(app?.options.googleAppID == "id")
        #expect(app?.name == name)
        #expect(FirebaseApp.allApps?[name] === app)
    }

    @Test func aDeletedAppIsGoneAndItsNameFree() async {
        let app = testApp(bucket: "b")
        let storage = Storage.storage(app: app)
        #expect(await app.delete())
        #expect(FirebaseApp.app(name: app.name) == nil)
        #expect(await !app.delete())
        FirebaseApp.configure(name: app.name, options: app.options)
        let next = FirebaseApp.app(name: app.name)!
        #expect(Storage.storage(app: next) !== storage)
    }

    @Test func aNameThatIsTakenEndsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let app = testApp(bucket: "b")
            FirebaseApp.configure(name: app.name, options: app.options)
        }
    }

    @Test func theDefaultAppIsConfiguredOnce() async {
        await #expect(processExitsWith: .success) {
            let options = FirebaseOptions()
            options.storageBucket = "b"
            FirebaseApp.configure(options: options)
            precondition(Storage.storage().reference().bucket == "b")
            precondition(Storage.storage(url: "gs://c").reference().bucket == "c")
        }
        await #expect(processExitsWith: .failure) {
            FirebaseApp.configure(options: FirebaseOptions())
            FirebaseApp.configure(options: FirebaseOptions())
        }
    }
}

struct FirebaseOptionsTests {
    private let folder = temporaryDirectory()

    private func write(_ json: String) throws -> String {
        let path = "\(folder.path)/GoogleService-Info.json"
        try Data(json.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test(arguments: [
        """
        {"GOOGLE_APP_ID": "1:2:ios:3", "GCM_SENDER_ID": "2", "API_KEY": "k", "PROJECT_ID": "p", "STORAGE_BUCKET": "b",
        "IS_ADS_ENABLED": false}
        """,
        """
        {"appId": "1:2:ios:3", "messagingSenderId": "2", "apiKey": "k", "projectId": "p", "storageBucket": "b"}
        """,
    ])
    func optionsAreReadFromJSON(json: String) throws {
        let options = try #require(FirebaseOptions(contentsOfFile: write(json)))
        #expect(options.googleAppID == "1:2:ios:3")
        #expect(options.gcmSenderID == "2")
        #expect(options.apiKey == "k")
        #expect(options.projectID == "p")
        #expect(options.storageBucket == "b")
    }

    @Test(arguments: ["", "[]", "{", "3"])
    func whatIsNoObjectIsRefused(json: String) throws {
        let path = try write(json)
        #expect(FirebaseOptions(contentsOfFile: path) == nil)
        let error = #expect(throws: FirebaseOptions.LoadingError.self) {
            try FirebaseOptions(contentsOf: URL(fileURLWithPath: path))
        }
        #expect(error?.description.hasPrefix(path) == true)
    }

    @Test func aMissingFileIsRefused() {
        #expect(FirebaseOptions(contentsOfFile: "\(folder.path)/none") == nil)
    }

    @Test func theEnvironmentMayHoldJSONOrAPath() throws {
        let json = #"{"storageBucket": "b", "projectId": "p"}"#
        let inline = try #require(try FirebaseOptions(environment: ["FIREBASE_CONFIG": " \n\(json)"]))
        #expect(inline.storageBucket == "b")
        let named = try #require(try FirebaseOptions(environment: ["FIREBASE_CONFIG": write(json)]))
        #expect(named.projectID == "p")
    }

    @Test func singleVariablesComeFirst() throws {
        let options = try #require(
            try FirebaseOptions(environment: [
                "FIREBASE_CONFIG": #"{"storageBucket": "b", "projectId": "p"}"#, "FIREBASE_STORAGE_BUCKET": "other",
                "FIREBASE_API_KEY": "k",
            ]))
        #expect(options.storageBucket == "other")
        #expect(options.apiKey == "k")
        #expect(options.projectID == "p")
        #expect(try FirebaseOptions(environment: ["HOME": "x"]) == nil)
    }
}
