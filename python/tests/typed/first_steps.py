"""A user's first program."""

import tippe

world = tippe.load("card_house")
run = world.run(until=0.2, every=4)
print(run.residual.max(), run.penetration.max(), run.time[-1])
height = run["left00"].position[:, 2]
print(height.min(), float(run.energy[0]))
run.save("run.h5")
again = tippe.open("run.h5")
axes = again.plot("left00.z", "residual")
axes.set_title("cards")
table = again.to_dataframe()
print(table["left00.z"].max(), len(table))
for name in run.bodies:
    print(name, run[name].velocity[-1].tolist())
print(run.summary["steps"], run.contacts.shape)
